/**
 * The order between the responses of one connection and what follows them (L2): the one place that knows whether a
 * response was accepted by the connection. Sends nothing itself.
 *
 *     request ──► handler runs ──► response accepted ──► work after the response runs, held keys are released
 *                     └──► ended without a response: held keys are released
 *
 * A handler registers work that starts after its response (`afterAnswer`), and holds the keys of notifications that its
 * request causes while another fiber sends them (`hold`); that fiber waits until the key has `passed`. Keys are chosen
 * by the dialects: the id of a conversation, or the name of a group of notifications.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

/** A key that requests hold. */
interface Held {
  requests: number
  readonly open: Latch.Latch
}

/** The part of the gate that belongs to one request. */
export class RequestGate {
  private after: Effect.Effect<void> | undefined
  private over: ((sent: boolean) => void) | undefined
  private releases: Array<() => void> | undefined
  private ends: Array<() => void> | undefined
  private readonly holdKey: (key: string) => () => void

  /** @param holdKey holds that key until the result is called */
  constructor(holdKey: (key: string) => () => void) {
    this.holdKey = holdKey
  }

  /**
   * Registers an effect that runs once the response was accepted, before anything else of the request. Only the last
   * registration counts. `over` is called when the request has ended; `sent`: whether the response may have reached the
   * client, also where `effect` did not run. A defect in `effect` is logged.
   */
  readonly afterAnswer = (effect: Effect.Effect<void>, over?: (sent: boolean) => void): void => {
    this.after = Effect.catchDefect(effect, (defect) =>
      Effect.logError("what follows a response failed", defect),
    )
    this.over = over
  }

  /** Registers what runs when the request has ended, however it ends. All registrations count. */
  readonly atEnd = (run: () => void): void => {
    this.ends ??= []
    this.ends.push(run)
  }

  /** Notifications under this key wait until the response was accepted, or the request has ended without one. */
  readonly hold = (key: string): void => {
    this.releases ??= []
    this.releases.push(this.holdKey(key))
  }

  /** True while the request has registered nothing and holds no key. */
  get isUnused(): boolean {
    return (
      this.after === undefined &&
      this.over === undefined &&
      this.releases === undefined &&
      this.ends === undefined
    )
  }

  private release(): void {
    const { releases = [] } = this
    this.releases = undefined
    for (const release of releases) release()
  }

  /** The effect to run once the response was accepted; undefined if there is none. */
  accepted(): Effect.Effect<void> | undefined {
    const { after } = this
    if (this.releases === undefined) return after
    return Effect.andThen(
      after ?? Effect.void,
      Effect.sync(() => this.release()),
    )
  }

  /** Called when the request has ended. `sent`: whether its response may have reached the client. */
  ended(sent: boolean): void {
    this.release()
    this.over?.(sent)
    for (const run of this.ends ?? []) run()
  }
}

/** The gate of one connection. Keeps no state for a key that no request holds. */
export class AnswerGate {
  /** Undefined until a request holds a key. */
  private held: Map<string, Held> | undefined

  /** Creates the part of one request. */
  request(): RequestGate {
    return new RequestGate((key) => this.holdKey(key))
  }

  /** Waits while a request holds this key. */
  passed(key: string): Effect.Effect<void> {
    return Effect.suspend(() => this.held?.get(key)?.open.await ?? Effect.void)
  }

  private holdKey(key: string): () => void {
    const keys = (this.held ??= new Map())
    const held = keys.get(key) ?? { requests: 0, open: Latch.makeUnsafe(false) }
    keys.set(key, held)
    held.requests++
    let released = false
    return () => {
      if (released) return
      released = true
      if (--held.requests > 0) return
      keys.delete(key)
      held.open.openUnsafe()
    }
  }
}
