// Preloaded (-r): emulate 0.11.2 listens on all interfaces unless told a host.
const net = require('node:net')
const orig = net.Server.prototype.listen
net.Server.prototype.listen = function (p, h, ...r) {
  if (typeof p === 'number' && (h === undefined || h === null)) h = '127.0.0.1'
  return orig.call(this, p, h, ...r)
}
