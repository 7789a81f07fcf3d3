/** A store of conversations in memory that fails, or takes its time, at the calls its plan names. Tells the trace what went wrong. */
import {
  type ConversationStore,
  type StoredConversation,
  StoreError,
} from "@colloquy/core/ConversationStore"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { StorePlan } from "./Plan.ts"
import type { Recorder } from "./Recorder.ts"

type Service = ConversationStore["Service"]
type Id = Parameters<Service["load"]>[0]

/** `late` is longer than the manager waits, `slow` is not. */
const delayMs = { fails: 0, slow: 2_000, late: 12_000 } as const

export class FaultyStore implements Service {
  readonly kept = new Map<Id, StoredConversation>()
  private readonly faults: ReadonlyMap<number, keyof typeof delayMs>
  private readonly recorder: Recorder
  private calls = 0
  private healed = false

  constructor(plan: StorePlan, recorder: Recorder) {
    this.faults = new Map(plan.faults.map(({ call, how }) => [call, how]))
    this.recorder = recorder
  }

  /** From now on it works. */
  heal(): void {
    this.healed = true
  }

  save(id: Id, conversation: StoredConversation): Effect.Effect<void, StoreError> {
    return this.call("save", () => {
      this.kept.set(id, conversation)
    })
  }

  load(id: Id): Effect.Effect<StoredConversation | undefined, StoreError> {
    return this.call("load", () => this.kept.get(id))
  }

  remove(id: Id): Effect.Effect<void, StoreError> {
    return this.call("remove", () => {
      this.kept.delete(id)
    })
  }

  get list(): Effect.Effect<ReadonlyArray<Id>, StoreError> {
    return this.call("list", () => [...this.kept.keys()])
  }

  private call<A>(operation: StoreError["operation"], act: () => A): Effect.Effect<A, StoreError> {
    return Effect.suspend(() => {
      const how = this.healed ? undefined : this.faults.get(this.calls)
      this.calls++
      if (how === undefined) {
        return Effect.andThen(this.recorder.record({ at: "store", operation }), Effect.sync(act))
      }
      const told = this.recorder.record({ at: "store", operation, how })
      const wait = Effect.andThen(told, Effect.sleep(Duration.millis(delayMs[how])))
      return how === "fails"
        ? Effect.andThen(told, Effect.fail(new StoreError({ operation, message: "injected" })))
        : Effect.andThen(wait, Effect.sync(act))
    })
  }
}
