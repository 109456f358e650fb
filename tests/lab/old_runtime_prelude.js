/*
 * Runs before the programs that a lab compiles with deno 2.6.8, the newest base runtime that a package registry carries.
 * It gives them what the product takes from 2.9: a datagram socket without a path, which can only send. The older runtime
 * would bind one to a file called "undefined"; a name that is removed at once does the same.
 */
{
  const { listenDatagram } = Deno;
  if (typeof listenDatagram === "function" && Deno.version.deno.startsWith("2.6.")) {
    Deno.listenDatagram = (options) => {
      if (options.transport !== "unixpacket" || options.path !== undefined) return listenDatagram(options);
      const path = `/tmp/notify-${Deno.pid}-${crypto.randomUUID()}`;
      const socket = listenDatagram({ ...options, path });
      Deno.removeSync(path);
      return socket;
    };
  }
}
