// Material fetches its search worker and the whole index on every first page load. This holds both
// back until the learner turns to the search. The bundle stays as it is: it only waits longer.
(() => {
  /** @type {(() => void)[]} */
  const waiting = [];
  // A shared link may carry a query, or words to mark on the page: both need the search at once.
  let wanted = /[?&][qh]=/.test(location.search);

  const { open, send } = XMLHttpRequest.prototype;
  const forIndex = new WeakSet();
  /** @param {any[]} request */
  XMLHttpRequest.prototype.open = function (...request) {
    if (/\/search\/search_index\.json$/.test(String(request[1]))) forIndex.add(this);
    return open.apply(this, /** @type {Parameters<typeof open>} */ (request));
  };
  XMLHttpRequest.prototype.send = function (body) {
    if (wanted || !forIndex.has(this)) return send.call(this, body);
    waiting.push(() => send.call(this, body));
  };

  const RealWorker = window.Worker;
  /** Stands in for the worker: keeps what it is told, and passes it on once there is a worker.
   * @param {string | URL} url */
  const lateWorker = (url) => {
    // Instant navigation changes the page's address, against which a relative one is read
    const address = new URL(url, location.href);
    /** @type {unknown[]} */
    const messages = [];
    const standIn = Object.assign(new EventTarget(), {
      /** @param {unknown} message */
      postMessage: (message) => {
        messages.push(message);
      },
    });
    waiting.push(() => {
      const worker = new RealWorker(address);
      worker.addEventListener("message", ({ data }) => {
        standIn.dispatchEvent(new MessageEvent("message", { data }));
      });
      standIn.postMessage = (message) => worker.postMessage(message);
      messages.forEach(standIn.postMessage);
    });
    return standIn;
  };
  window.Worker = new Proxy(RealWorker, {
    construct: (Real, [url, options]) =>
      wanted || !/\/workers\/search\./.test(String(url)) ? new Real(url, options) : lateWorker(url),
  });

  // It opens by a click, by its keys (/, s, f) or by focus: one of these events always happens.
  /** @param {Event} event */
  const release = ({ target }) => {
    if (!(target instanceof Element)) return;
    if (!target.matches("#__search, [data-md-component=search-query]")) return;
    wanted = true;
    for (const go of waiting.splice(0)) go();
  };
  document.addEventListener("focusin", release);
  document.addEventListener("change", release);
})();
