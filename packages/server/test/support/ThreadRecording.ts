/** The recordings of the original's version 0.169: its app-server of threads and turns, over stdio and WebSocket, and `exec`. */

const files = import.meta.glob("../fixtures/v0.169.0*/*.jsonl", {
  query: "?raw",
  eager: true,
  import: "default",
})

/** One line. `conn` names the connection where there are several. */
export interface ThreadEntry {
  readonly dir: "c2s" | "s2c" | "note" | "stdout" | "stderr" | "stdin" | "argv"
  readonly conn?: number | string
  readonly msg: unknown
}

const lines = (text: string): ReadonlyArray<ThreadEntry> =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as ThreadEntry)

/** Every recording by its name, in the order of their names. */
export const threadRecordings: ReadonlyArray<readonly [string, ReadonlyArray<ThreadEntry>]> =
  Object.entries(files)
    .map(([path, text]) => [path.replace(/^.*\/|\.jsonl$/g, ""), lines(text)] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
