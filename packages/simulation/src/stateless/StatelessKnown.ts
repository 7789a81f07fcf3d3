/** What the clients of a run heard and may come back to: questions of calls, and tasks; the last of each client, and of all. */

export type Members = Readonly<Record<string, unknown>>

export const isMembers = (u: unknown): u is Members =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** The member at the end of the path; undefined where there is none. */
export const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (inner, name) => (isMembers(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  )

export interface Asked {
  readonly state: string
  readonly keys: ReadonlyArray<string>
  /** Of the call that asked, as they were said. */
  readonly params: Members
}

export interface KnownTask {
  readonly id: string
  /** Of its open questions, when it was last looked at. */
  readonly keys: ReadonlyArray<string>
}

/** The last of a client, the one before it, or the last of any client. */
export type Whose = "own" | "before" | "any"

class Last<A> {
  private readonly own = new Map<number, ReadonlyArray<A>>()
  private latest: A | undefined

  put(client: number, value: A): void {
    this.own.set(client, [value, ...(this.own.get(client) ?? [])].slice(0, 2))
    this.latest = value
  }

  of(client: number, whose: Whose): A | undefined {
    return whose === "any" ? this.latest : this.own.get(client)?.[whose === "own" ? 0 : 1]
  }
}

export class Known {
  readonly asked = new Last<Asked>()
  readonly tasks = new Last<KnownTask>()

  /** A client heard an answer to what it had said. */
  hear(client: number, params: Members | undefined, answer: unknown): void {
    const result = at(answer, "result")
    const keys = Object.keys(at(result, "inputRequests") ?? {})
    const state = at(result, "requestState")
    if (typeof state === "string" && params !== undefined) {
      this.asked.put(client, { state, keys, params })
    }
    const id = at(result, "taskId")
    if (typeof id === "string") this.tasks.put(client, { id, keys })
  }
}
