/** Reads the standard error of a process: passes it on if wanted, and keeps its end for error messages. */
import type { Readable } from "node:stream"

const maxKeptBytes = 4096
const maxKeptLines = 10

/** The error output of one process. */
export interface ErrorOutput {
  /** Its last lines, at most ten and 4 KiB, without trailing white space; "" if there were none. */
  readonly lastLines: () => string
}

/** @param passOn receives every chunk, for example to write it to the standard error of this process */
export const read = (stderr: Readable, passOn?: (chunk: Uint8Array) => void): ErrorOutput => {
  let kept = Buffer.alloc(0)
  stderr.on("data", (chunk: Buffer) => {
    passOn?.(chunk)
    // Copied: a part of a chunk would keep all of it in memory.
    kept = Buffer.from(Buffer.concat([kept, chunk]).subarray(-maxKeptBytes))
  })
  // The end of the process is reported by itself.
  stderr.on("error", () => {})
  // A process that a server has left behind with this output must not keep this process running.
  if ("unref" in stderr && typeof stderr.unref === "function") stderr.unref()
  return {
    lastLines: () => kept.toString("utf8").trimEnd().split("\n").slice(-maxKeptLines).join("\n"),
  }
}
