/** What the figures were taken on. A number without it says nothing. */
import { availableParallelism, loadavg } from "node:os"

/** One line: Node, platform, cores, and how busy the machine was when it began. */
export const describe = (): string =>
  `Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores, load ${(loadavg()[0] ?? 0).toFixed(1)}`
