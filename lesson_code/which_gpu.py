"""Say what PyTorch finds on this machine: `python -m lesson_code.which_gpu`."""

import torch

from lesson_code.devices import choose_amp_dtype


# --8<-- [start:what_is_here]
def what_is_here() -> list[str]:
    """Which PyTorch this is, which GPUs it finds, and how the lesson's code would use them."""
    rocm, cuda = torch.version.hip, torch.version.cuda
    built_for = f"ROCm {rocm}" if rocm else f"CUDA {cuda}" if cuda else "neither CUDA nor ROCm"
    lines = [f"PyTorch {torch.__version__}, built for {built_for}"]
    found = torch.accelerator.current_accelerator(check_available=True)
    if found is None:
        return [*lines, "no GPU that PyTorch finds: everything trains on the CPU"]
    if found.type != "cuda":
        return [*lines, f"{found.type}: the portable script trains on it, in float32"]
    for index in range(torch.cuda.device_count()):
        card = torch.cuda.get_device_properties(index)
        lines.append(f"cuda:{index}: {card.name}, {card.total_memory / 1e9:.0f} GB")
    return [*lines, f"mixed precision: {choose_amp_dtype(found)}".replace("torch.", "")]


# --8<-- [end:what_is_here]


if __name__ == "__main__":
    print("\n".join(what_is_here()))
