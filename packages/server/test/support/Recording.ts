/** The recordings of the original, as copied to `test/fixtures`. */
import { read, type WireMessage } from "./Wire.ts"

declare global {
  interface ImportMeta {
    /** Provided by Vite: the texts of the files that match, by path. */
    readonly glob: (
      pattern: string,
      options: { readonly query: "?raw"; readonly eager: true; readonly import: "default" },
    ) => Readonly<Record<string, string>>
  }
}

const files = import.meta.glob("../fixtures/*/*.jsonl", {
  query: "?raw",
  eager: true,
  import: "default",
})

/**
 * `-transport`: HTTP requests, which `packages/cli/test/support/HttpReplays.ts` sends to the built program.
 * `-app`: the requests of the app-server, which 0.29 serves in addition to MCP. `-commands`: recordings that the built
 * program replays in `packages/cli/test/CommandReplays.long.live.test.ts`, because their commands really run or because they are about
 * the start of the program, its files or its network.
 */
export type Version =
  | "0.29.0"
  | "0.29.0-app"
  | "0.29.0-commands"
  | "0.45.0"
  | "0.153.4"
  | "0.169.0"
  | "0.169.0-exec"
  | "0.169.0-transport"

/** `conn` names the connection where a recording has several. */
export type Entry =
  | { readonly dir: "c2s"; readonly conn: string; readonly text: string }
  | {
      readonly dir: "s2c"
      readonly conn: string
      readonly text: string
      readonly message: WireMessage
    }
  | { readonly dir: "note"; readonly note: string }

interface Line {
  readonly dir: Entry["dir"]
  readonly conn?: string
  readonly msg: unknown
  readonly raw?: string
  /** Shortens a long line: the `@` in `raw` is replaced by this text, repeated this number of times. */
  readonly repeat?: { readonly text: string; readonly times: number }
}

const entry = (line: string): Entry => {
  const { conn = "", dir, msg, raw, repeat } = JSON.parse(line) as Line
  const short = raw ?? JSON.stringify(msg)
  const text =
    repeat === undefined ? short : short.replace("@", () => repeat.text.repeat(repeat.times))
  switch (dir) {
    case "c2s":
      return { dir, conn, text }
    case "s2c":
      return { dir, conn, text, message: read(text) }
    default:
      // Also what a process wrote on stderr.
      return { dir: "note", note: JSON.stringify(msg) }
  }
}

/** Names of all copied recordings of a version. */
export const namesOf = (version: Version): ReadonlyArray<string> =>
  Object.keys(files).flatMap((path) => {
    const [, of, name] = /\/v([^/]*)\/([^/]*)\.jsonl$/.exec(path) ?? []
    return of === version && name !== undefined ? [name] : []
  })

export const load = (version: Version, name: string): ReadonlyArray<Entry> => {
  const text = files[`../fixtures/v${version}/${name}.jsonl`]
  if (text === undefined) throw new Error(`no recording ${name} of ${version}`)
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map(entry)
}
