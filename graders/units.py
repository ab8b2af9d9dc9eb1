"""Which units can be graded, and which files a learner hands in for each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """Something that is graded by itself.

    Attributes:
        name: What commands call it, and where below ``graders`` its checks are.
        title: What people call it.
        files: What the learner writes, the file that has to be there first.
        folder: Whether its checks look at the folder of these files, not at one file.
    """

    name: str
    title: str
    files: tuple[str, ...]
    folder: bool = False

    @property
    def file(self) -> str:
        """The file without which nothing was handed in."""
        return self.files[0]


UNITS = {
    unit.name: unit
    for unit in (
        Unit("lab.exercise_1", "Exercise 1: device management", ("01_gpu_basics.py",)),
        Unit("lab.exercise_2", "Exercise 2: mixed-precision training", ("02_amp_training.py",)),
        Unit("lab.exercise_3", "Exercise 3: memory optimisation", ("03_memory_optimization.py",)),
        Unit("lab.exercise_4", "Exercise 4: accelerated training", ("04_accelerated_training.py",)),
        Unit("foundations.step_2", "Step 2: gradients", ("explore_gradients.py",), True),
        Unit("foundations.step_3", "Step 3: training script", ("train_mnist.py",), True),
        Unit(
            "foundations.step_4",
            "Step 4: six repairs",
            ("debug_model.py", "debugging-note.md"),
            True,
        ),
        Unit("foundations.step_5", "Step 5: benchmark", ("benchmark_devices.py",), True),
        Unit("foundations.step_6", "Step 6: readiness note", ("training-readiness.md",), True),
    )
}
