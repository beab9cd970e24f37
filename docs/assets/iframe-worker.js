// Search in a site that is opened from files: browsers start no worker there, so its script runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(path) {
      super();
      const address = new URL(path, document.baseURI);
      const frame = document.body.appendChild(document.createElement("iframe"));
      frame.hidden = true;
      this.inside = frame.contentWindow;
      const load = (script) =>
        new Promise((done, failed) => {
          const element = frame.contentDocument.createElement("script");
          Object.assign(element, { src: new URL(script, address).href, onload: done, onerror: failed });
          frame.contentDocument.body.append(element);
        });
      this.inside.importScripts = async (...scripts) => {
        for (const script of scripts) await load(script);
      };
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = load(address);
    }

    async postMessage(data) {
      await this.ready;
      this.inside.dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
