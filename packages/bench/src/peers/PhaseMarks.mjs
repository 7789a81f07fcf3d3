/**
 * Loaded before the program by `node --import`: notes when a sync of a file begins and ends and when bytes of a request
 * go to a TCP socket, on the clock that all processes share, and writes the notes to `COLLOQUY_BENCH_MARKS` at exit.
 * The program itself is not changed.
 */
import * as fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { Socket } from "node:net"

const file = process.env["COLLOQUY_BENCH_MARKS"]
const marks = []
const mark = (name) => marks.push(`${name} ${process.hrtime.bigint()}`)

for (const name of ["fsync", "fdatasync"]) {
  const original = fs.default[name]
  fs.default[name] = (fd, done) => {
    mark("syncing")
    original(fd, (error) => {
      mark("synced")
      done(error)
    })
  }
  const blocking = fs.default[`${name}Sync`]
  fs.default[`${name}Sync`] = (fd) => {
    mark("syncing")
    blocking(fd)
    mark("synced")
  }
}
const opened = await fs.promises.open(process.execPath)
const handle = Object.getPrototypeOf(opened)
await opened.close()
for (const name of ["sync", "datasync"]) {
  const original = handle[name]
  handle[name] = async function () {
    mark("syncing")
    await original.call(this)
    mark("synced")
  }
}
syncBuiltinESMExports()

for (const name of ["_write", "_writev"]) {
  const original = Socket.prototype[name]
  Socket.prototype[name] = function (...args) {
    if (this.remotePort !== undefined) mark("asking")
    return original.apply(this, args)
  }
}

process.once("exit", () => fs.writeFileSync(file, `${marks.join("\n")}\n`))
