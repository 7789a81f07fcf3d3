/** What the clients of a run may refer to later: the pending questions of calls, and tasks; the latest of each client and of all. */

/** A JSON object. */
export type Members = Readonly<Record<string, unknown>>

/** True for a JSON object; false for an array. */
export const isMembers = (u: unknown): u is Members =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** The member at the end of the path; undefined when there is none. */
export const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (inner, name) => (isMembers(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  )

/** A call that ended with questions. */
export interface PendingQuestions {
  /** Its `requestState`. */
  readonly state: string
  /** Keys of its questions. */
  readonly keys: ReadonlyArray<string>
  /** Params of the call as they were sent. */
  readonly params: Members
}

/** A task that a client knows. */
export interface KnownTask {
  readonly id: string
  /** Keys of the questions that were pending in its latest result. */
  readonly keys: ReadonlyArray<string>
}

/** The latest value of a client (`own`), the one before it, or the latest of any client. */
export type Source = "own" | "before" | "any"

class Last<A> {
  private readonly own = new Map<number, ReadonlyArray<A>>()
  private latest: A | undefined

  put(client: number, value: A): void {
    this.own.set(client, [value, ...(this.own.get(client) ?? [])].slice(0, 2))
    this.latest = value
  }

  of(client: number, source: Source): A | undefined {
    return source === "any" ? this.latest : this.own.get(client)?.[source === "own" ? 0 : 1]
  }
}

/** What all clients of a run know. */
export class Known {
  readonly asked = new Last<PendingQuestions>()
  readonly tasks = new Last<KnownTask>()

  /** Records what a client learns from a response; `params` are those of its request. */
  recordResponse(client: number, params: Members | undefined, answer: unknown): void {
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
