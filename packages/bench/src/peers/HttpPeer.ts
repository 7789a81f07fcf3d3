/** What the servers of the benchmark tell it on their standard output: their port, and on `SIGUSR2` their heap. */
import type { Server } from "node:http"

/** Bytes of the heap and of what it keeps outside, without garbage. Needs `--expose-gc`. */
const usedBytes = (): number => {
  globalThis.gc?.()
  globalThis.gc?.()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Writes the port of the server once it listens. */
export const tellPort = (server: Server): Server => {
  server.once("listening", () => {
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    process.stdout.write(`port ${port}\n`)
  })
  process.on("SIGUSR2", () => process.stdout.write(`heap ${usedBytes()}\n`))
  return server
}
