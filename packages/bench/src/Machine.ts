/** Describes the machine on which figures were taken, without which they have no meaning. */
import { availableParallelism, loadavg } from "node:os"

/** One line: Node, platform, cores, and the load of the machine at the start. */
export const describe = (): string =>
  `Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores, load ${(loadavg()[0] ?? 0).toFixed(1)}`
