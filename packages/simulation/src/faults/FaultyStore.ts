/**
 * A store of conversations in memory that fails, is slow, or loses a lease at the calls that its plan names. Keeps every
 * batch with its place in the trace, so that a crash at any moment can be reconstructed. Records its calls in the trace.
 */
import { ConversationStore, type LogWriter } from "@colloquy/core/ConversationStore"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import { LeaseLost, StoreError } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreFault, StorePlan } from "../scenario/Plan.ts"
import type { Recorder } from "../trace/Recorder.ts"

type Service = ConversationStore["Service"]
type Meta = Parameters<Service["create"]>[0]

/** Records that were written together; `at` is the length of the trace at that time. */
interface Batch {
  readonly id: ConversationId
  readonly records: ReadonlyArray<LogRecord>
  readonly at: number
}

/** Delay of each fault. `late` is longer than any caller waits, `slow` is not. */
const delayMs = { fails: 0, stolen: 0, slow: 2_000, late: 12_000 } as const

const memory = Effect.map(Effect.scoped(Layer.build(MemoryStore.layer)), (services) =>
  Context.get(services, ConversationStore),
)

/** A conversation store over `MemoryStore` with planned faults. */
export class FaultyStore implements Service {
  /** The metadata of every conversation that was created. */
  readonly metas = new Map<ConversationId, Meta>()
  /** Every batch that was written, in order. */
  readonly batches: Array<Batch> = []
  /** Every conversation that was deleted. */
  readonly deleted: Array<{ readonly id: ConversationId; readonly at: number }> = []
  private readonly faults: ReadonlyMap<number, StoreFault["how"]>
  private readonly appendFaults: ReadonlyMap<number, StoreFault["how"]>
  private readonly recorder: Recorder
  private readonly inner: Service
  private calls = 0
  private appends = 0
  private healed = false

  private constructor(plan: StorePlan, recorder: Recorder, inner: Service) {
    this.faults = new Map(plan.faults.map(({ call, how }) => [call, how]))
    this.appendFaults = new Map(plan.appendFaults.map(({ call, how }) => [call, how]))
    this.recorder = recorder
    this.inner = inner
  }

  /** An empty store. */
  static make(plan: StorePlan, recorder: Recorder): FaultyStore {
    return new FaultyStore(plan, recorder, Effect.runSync(memory))
  }

  /** Ends all faults: every later call succeeds. */
  heal(): void {
    this.healed = true
  }

  /** Puts a conversation into the store as another process left it. */
  hold(meta: Meta, records: ReadonlyArray<LogRecord>): void {
    Effect.runSync(Effect.scoped(this.inner.create(meta, records)))
  }

  create(...[meta, records]: Parameters<Service["create"]>): ReturnType<Service["create"]> {
    return this.call(
      "create",
      Effect.map(this.inner.create(meta, records), (writer) => {
        this.metas.set(meta.id, meta)
        this.batches.push({ id: meta.id, records, at: this.recorder.trace.length })
        return this.writing(meta.id, writer)
      }),
    )
  }

  open(where: Parameters<Service["open"]>[0]): ReturnType<Service["open"]> {
    return this.call(
      "open",
      Effect.map(this.inner.open(where), (opened) => ({
        ...opened,
        writer: this.writing(opened.summary.meta.id, opened.writer),
      })),
    )
  }

  read(...args: Parameters<Service["read"]>): ReturnType<Service["read"]> {
    return this.call("read", this.inner.read(...args))
  }

  readBackward(...args: Parameters<Service["readBackward"]>): ReturnType<Service["readBackward"]> {
    return this.call("read", this.inner.readBackward(...args))
  }

  positionOf(...args: Parameters<Service["positionOf"]>): ReturnType<Service["positionOf"]> {
    return this.call("read", this.inner.positionOf(...args))
  }

  list(query: Parameters<Service["list"]>[0]): ReturnType<Service["list"]> {
    return this.call("list", this.inner.list(query))
  }

  metadata(where: Parameters<Service["metadata"]>[0]): ReturnType<Service["metadata"]> {
    return this.call("metadata", this.inner.metadata(where))
  }

  archive(...of: Parameters<Service["archive"]>): ReturnType<Service["archive"]> {
    return this.call("archive", this.inner.archive(...of))
  }

  unarchive(...of: Parameters<Service["unarchive"]>): ReturnType<Service["unarchive"]> {
    return this.call("unarchive", this.inner.unarchive(...of))
  }

  rename(id: ConversationId, name: string): ReturnType<Service["rename"]> {
    return this.call("rename", this.inner.rename(id, name))
  }

  delete(...of: Parameters<Service["delete"]>): ReturnType<Service["delete"]> {
    const [id] = of
    return this.call(
      "delete",
      Effect.map(this.inner.delete(...of), () => {
        this.deleted.push({ id, at: this.recorder.trace.length })
      }),
    )
  }

  /** The writer of a conversation with the planned faults. */
  private writing(id: ConversationId, writer: LogWriter): LogWriter {
    const { generation } = writer
    let stolen = false
    const recorded = (how?: string) => this.recordAppend(id, generation, how)
    const lost = Effect.fail(new LeaseLost({ id, generation }))
    return {
      generation,
      append: (records, durability) =>
        Effect.suspend(() => {
          const how = this.nextAppendFault()
          const write = Effect.suspend(() => {
            if (stolen) return Effect.andThen(recorded("stale"), lost)
            return writer.append(records, durability).pipe(
              Effect.tap(() => this.keepBatch(id, records)),
              Effect.andThen(recorded()),
              Effect.tapError(() => recorded("refused")),
            )
          })
          switch (how) {
            case undefined:
              return write
            case "fails":
              return Effect.andThen(recorded(how), injected("append"))
            case "stolen":
              stolen = true
              return Effect.andThen(Effect.andThen(recorded(how), this.steal(id, writer)), lost)
            case "slow":
            case "late":
              return Effect.andThen(recorded(how), Effect.andThen(wait(how), write))
          }
        }),
    }
  }

  private nextAppendFault(): StoreFault["how"] | undefined {
    const how = this.healed ? undefined : this.appendFaults.get(this.appends)
    this.appends++
    return how
  }

  private keepBatch(id: ConversationId, records: ReadonlyArray<LogRecord>): Effect.Effect<void> {
    return Effect.sync(() => {
      this.batches.push({ id, records, at: this.recorder.trace.length })
    })
  }

  private recordAppend(id: ConversationId, generation: number, how?: string): Effect.Effect<void> {
    return this.recorder.record({
      at: "append",
      conversation: id,
      generation,
      ...(how === undefined ? {} : { how }),
    })
  }

  /** Another process takes the conversation over, records one event and releases the lease. */
  private steal(id: ConversationId, writer: LogWriter): Effect.Effect<void> {
    const seq = this.batches
      .flatMap((batch) => (batch.id === id ? batch.records : []))
      .filter(({ _tag }) => _tag === "Event").length
    const msg = { type: "background_event", message: `thief ${seq}` } as const
    const records = [{ _tag: "Event", atMs: 0, event: { seq, id: "", msg } }] as const
    this.batches.push({ id, records, at: this.recorder.trace.length })
    return Effect.orDie(writer.append(records, "synced"))
  }

  /** Runs one call of the store with its planned fault. */
  private call<A, E, R>(
    operation: StoreError["operation"],
    act: Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E | StoreError, R> {
    return Effect.suspend(() => {
      const how = this.healed ? undefined : this.faults.get(this.calls)
      this.calls++
      const recorded = this.recorder.record({
        at: "store",
        operation,
        ...(how === undefined ? {} : { how }),
      })
      const done: Effect.Effect<A, E | StoreError, R> =
        how === "fails" || how === "stolen"
          ? injected(operation)
          : how === undefined
            ? act
            : Effect.andThen(wait(how), act)
      return Effect.andThen(recorded, done)
    })
  }
}

const wait = (how: keyof typeof delayMs) => Effect.sleep(Duration.millis(delayMs[how]))

const injected = (operation: StoreError["operation"]) =>
  Effect.fail(new StoreError({ operation, reason: "Other", message: "injected" }))
