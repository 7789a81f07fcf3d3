/** The options of a chat. Types only. */

/** How a chat begins. */
export interface ChatOptions {
  /** The conversation to go on with: an id, or the newest of the directory. Absent: a new one. */
  readonly resume?: { readonly id: string } | "newest"
  /** The first message. */
  readonly prompt?: string
}
