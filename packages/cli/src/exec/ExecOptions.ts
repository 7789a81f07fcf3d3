/** The options of `exec`. Types only. */

/** See the header. */
export interface ExecOptions {
  /** Events as JSON lines, instead of a transcript. */
  readonly json: boolean
  /** The conversation to go on with. Absent: a new one. */
  readonly resume?: { readonly id: string } | "last"
  readonly prompt?: string
  /** Paths of images. */
  readonly images: ReadonlyArray<string>
  /** File with the JSON Schema that the answer has to match. */
  readonly outputSchema?: string
  /** File that gets the last message of the agent. */
  readonly outputLastMessage?: string
  /** True: nothing is stored. */
  readonly ephemeral: boolean
  readonly skipGitRepoCheck: boolean
  readonly color: "auto" | "always" | "never"
}
