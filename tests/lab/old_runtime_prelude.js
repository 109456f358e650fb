/*
 * Runs before the programs that a lab compiles with deno 2.6.8, the newest base runtime that a package registry carries.
 * It gives them what the product takes from 2.9.
 */
if (Deno.version.deno.startsWith("2.6.")) {
  /* A datagram socket without a path, which can only send: the older runtime would bind it to a file "undefined". */
  const { listenDatagram } = Deno;
  if (typeof listenDatagram === "function") {
    Deno.listenDatagram = (options) => {
      if (options.transport !== "unixpacket" || options.path !== undefined) return listenDatagram(options);
      const path = `/tmp/notify-${Deno.pid}-${crypto.randomUUID()}`;
      const socket = listenDatagram({ ...options, path });
      Deno.removeSync(path);
      return socket;
    };
  }
  /*
   * A lock that is not waited for. Here it is waited for a moment; a lock that comes later goes with the file, which
   * whoever did not get it closes.
   */
  Deno.FsFile.prototype.tryLock ??= async function (exclusive) {
    let timer;
    const late = new Promise((resolve) => timer = setTimeout(() => resolve(false), 300));
    const locked = this.lock(exclusive).then(() => true);
    try {
      return await Promise.race([locked, late]);
    } finally {
      clearTimeout(timer);
    }
  };
}
