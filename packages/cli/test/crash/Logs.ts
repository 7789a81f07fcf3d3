/** The stored conversations of a crash run, read without the program under test. */
import type { Judged } from "./Judged.ts"

/** One conversation as it is stored. */
interface StoredLog {
  /** For an error: where it is. */
  readonly place: string
  readonly bytes: Buffer
  /** The bytes up to the end of the last whole record: no later process may change them. */
  readonly whole: Buffer
  readonly judge: () => Judged
}

export interface Logs {
  readonly ids: () => ReadonlyArray<string>
  /** The conversations with these ids that exist. */
  readonly read: (ids: Iterable<string>) => ReadonlyMap<string, StoredLog>
}
