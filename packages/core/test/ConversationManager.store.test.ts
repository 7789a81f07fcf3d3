import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { ConversationManager } from "../src/ConversationManager.ts"
import { diskFull, observed } from "./stores.ts"
import {
  answer,
  assistantItem,
  durableOf,
  isEnd,
  listed,
  loadedIds,
  managerLayer,
  says,
  scripted,
  settings,
  settle,
  takeUntil,
  userItem,
} from "./support.ts"

type Manager = ConversationManager["Service"]
type Conversation = Effect.Success<ReturnType<Manager["create"]>>

const speak = Effect.fnUntraced(function* (conversation: Conversation, text: string) {
  const listener = yield* conversation.attach()
  yield* conversation.submit(says(text))
  yield* takeUntil(listener, isEnd)
}, Effect.scoped)

const previews = (page: Effect.Success<ReturnType<Manager["list"]>>) =>
  page.items.map(({ preview }) => preview)

describe("ConversationManager over its store", () => {
  it.effect("reads the state from the log while the store takes no changes", () => {
    const store = observed()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings, { owner: "alice" })
      yield* speak(conversation, "hi")
      const { seq } = yield* conversation.state
      yield* TestClock.adjust("1 minute")
      store.faults.open = () => diskFull("open")
      assert.strictEqual((yield* manager.stateOf(conversation.id, { owner: "alice" })).seq, seq)
      const foreign = yield* Effect.flip(manager.stateOf(conversation.id, { owner: "bob" }))
      assert.strictEqual(foreign._tag, "NoSuchConversation")
      const refused = yield* Effect.flip(manager.get(conversation.id, { owner: "alice" }))
      assert.strictEqual(refused._tag, "ConversationUnavailable")
    }).pipe(Effect.provide(managerLayer(scripted(), { store: store.layer })))
  })

  // The behaviour of packages/server/test/fixtures/v0.45.0/conv_list_resume_archive.jsonl, without its wire.
  it.effect("lists, resumes and archives as clients of the original expect", () => {
    const store = observed()
    return Effect.gen(function* () {
      yield* TestClock.setTime(1_763_664_352_984)
      const manager = yield* ConversationManager
      const a = yield* manager.create(settings)
      // Without a user message the entry would give a person nothing to recognise it by, so it is not listed.
      assert.deepStrictEqual((yield* manager.list({ withPreview: true })).items, [])
      yield* speak(a, "conversation A")
      yield* TestClock.adjust("1 second")
      const b = yield* manager.create(settings)
      yield* speak(b, "conversation  B\n")
      const all = yield* manager.list({ withPreview: true })
      assert.deepStrictEqual(previews(all), ["conversation B", "conversation A"])
      assert.deepStrictEqual(
        all.items.map(({ createdAtMs }) => createdAtMs),
        [1_763_664_353_984, 1_763_664_352_984],
      )
      const first = yield* manager.list({ withPreview: true, limit: 1 })
      assert.deepStrictEqual(previews(first), ["conversation B"])
      const { nextCursor = "" } = first
      const rest = yield* manager.list({ withPreview: true, limit: 1, cursor: nextCursor })
      assert.deepStrictEqual(previews(rest), ["conversation A"])
      assert.isUndefined(rest.nextCursor)
      yield* speak(yield* manager.get(a.id), "continue A")
      assert.deepStrictEqual(previews(yield* manager.list()), ["conversation B", "conversation A"])
      yield* manager.archive(a.id)
      assert.deepStrictEqual(yield* listed(manager), [b.id])
      assert.deepStrictEqual(previews(yield* manager.list({ archived: true })), ["conversation A"])
      assert.strictEqual(
        (yield* Effect.flip(manager.get(a.id))).message,
        `conversation ${a.id} is not available: it is archived; unarchive it, or resume it by the path of its file`,
      )
      yield* manager.unarchive(a.id)
      yield* speak(yield* manager.get(a.id), "and again")
      const log = yield* Effect.scoped(
        Effect.flatMap(a.attach({ from: 0 }), (listener) =>
          takeUntil(listener, ({ _tag }) => _tag === "Synced"),
        ),
      )
      assert.deepStrictEqual(
        durableOf(log).flatMap(({ msg }) => (msg.type === "user_message" ? [msg.message] : [])),
        ["conversation A", "continue A", "and again"],
      )
    }).pipe(Effect.provide(managerLayer(scripted(answer("yes")), { store: store.layer })))
  })

  it.effect("finds by directory, provider and text, and loads none of them", () => {
    const store = observed()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      for (const [cwd, text] of [
        ["/a", "Fix the parser"],
        ["/b", "parse this"],
        ["/b", "hello"],
      ] as const) {
        yield* speak(yield* manager.create({ ...settings, cwd }), text)
      }
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(previews(yield* manager.list({ text: "PARSE" })), [
        "parse this",
        "Fix the parser",
      ])
      assert.deepStrictEqual(previews(yield* manager.list({ cwd: "/b", text: "parse" })), [
        "parse this",
      ])
      assert.deepStrictEqual((yield* manager.list({ provider: "other" })).items, [])
      assert.deepStrictEqual(yield* loadedIds(manager), [])
      assert.notInclude(store.calls, "open")
    }).pipe(Effect.provide(managerLayer(scripted(answer("yes")), { store: store.layer })))
  })

  it.effect("unarchiving one that is in memory changes nothing if it is not archived", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const { id } = yield* manager.create(settings)
      yield* speak(yield* manager.get(id), "one")
      yield* manager.unarchive(id)
      assert.include(yield* loadedIds(manager), id)
      yield* manager.archive(id)
      yield* manager.unarchive(id)
      yield* manager.unarchive(id)
      yield* speak(yield* manager.get(id), "two")
      assert.deepStrictEqual(previews(yield* manager.list()), ["one"])
    }).pipe(Effect.provide(managerLayer(scripted(answer("yes"))))),
  )

  it.effect(
    "a conversation begins with a given history, which the model is sent and no fork repeats",
    () => {
      const script = scripted(answer("yes"), answer("again"))
      return Effect.gen(function* () {
        yield* TestClock.adjust(0)
        const manager = yield* ConversationManager
        const history = [userItem("before"), assistantItem("answered")]
        const imported = yield* manager.create({ ...settings, history })
        assert.deepStrictEqual(previews(yield* manager.list()), ["before"])
        assert.isUndefined((yield* imported.state).settings.history)
        yield* speak(imported, "now")
        const copy = yield* manager.fork(imported.id, { _tag: "DropLastUserMessages", n: 1 })
        yield* speak(copy, "later")
        const inputs = script.requests.map(({ input }) => input.slice(-3))
        assert.deepStrictEqual(inputs, [
          [...history, userItem("now")],
          [...history, userItem("later")],
        ])
      }).pipe(Effect.provide(managerLayer(script)))
    },
  )

  it.effect("names conversations, which lists show and search; watchers are notified", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const { id } = yield* manager.create(settings)
      let changes = 0
      yield* manager.watch(() => changes++)
      assert.strictEqual(yield* manager.rename(id, " a \n name "), "a name")
      assert.strictEqual(changes, 1)
      assert.strictEqual((yield* manager.metadata({ id })).name, "a name")
      const { items } = yield* manager.list({ text: "NAME" })
      assert.deepStrictEqual(
        items.map((one) => [one.id, one.name]),
        [[id, "a name"]],
      )
      for (const name of ["", " \n ", "x".repeat(1001)]) {
        const error = yield* Effect.flip(manager.rename(id, name))
        assert.strictEqual(error._tag, "BadConversationName")
      }
      const foreign = yield* Effect.flip(manager.rename(id, "mine", { owner: "eve" }))
      assert.strictEqual(foreign._tag, "NoSuchConversation")
      assert.strictEqual((yield* manager.metadata({ id })).name, "a name")
      assert.strictEqual(changes, 1)
    }).pipe(Effect.scoped, Effect.provide(managerLayer(scripted()))),
  )

  it.effect("L13 reports that a path is unknown, and that a text is not an id", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const never = "00000000-0000-7000-8000-00000000000f"
      const calls: ReadonlyArray<Effect.Effect<void, { readonly _tag: string }>> = [
        Effect.asVoid(manager.open("/nowhere/rollout.jsonl")),
        Effect.asVoid(manager.get(never)),
        Effect.asVoid(manager.get("not an id")),
        manager.archive(never),
        manager.unarchive(never),
        manager.unarchive("not an id"),
        manager.remove(never),
      ]
      for (const call of calls) {
        assert.strictEqual((yield* Effect.flip(call))._tag, "NoSuchConversation")
      }
    }).pipe(Effect.provide(managerLayer(scripted()))),
  )

  it.effect("keeps a conversation that it could not archive or remove", () => {
    const store = observed()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const { id } = yield* manager.create(settings)
      store.faults.archive = () => diskFull("archive")
      assert.strictEqual((yield* Effect.flip(manager.archive(id)))._tag, "StoreError")
      assert.deepStrictEqual(yield* listed(manager), [id])
      yield* speak(yield* manager.get(id), "still here")
    }).pipe(Effect.provide(managerLayer(scripted(answer("yes")), { store: store.layer })))
  })

  it.effect("L13 does not know one that its store has lost, as with a restored backup", () => {
    const store = observed()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      const { id } = conversation
      yield* conversation.submit({ type: "shutdown" })
      yield* settle
      yield* store.inner.delete(id)
      const tagOf = <A, E extends { readonly _tag: string }>(call: Effect.Effect<A, E>) =>
        Effect.match(call, { onFailure: ({ _tag }) => _tag, onSuccess: () => "success" })
      const calls = [
        tagOf(manager.get(id)),
        tagOf(manager.stateOf(id)),
        tagOf(manager.fork(id, { _tag: "DropLastUserMessages", n: 0 })),
        tagOf(Effect.scoped(manager.follow(id, { from: 0 }))),
        tagOf(manager.archive(id)),
        tagOf(manager.unarchive(id)),
        tagOf(manager.remove(id)),
      ]
      for (const call of calls) assert.strictEqual(yield* call, "NoSuchConversation")
    }).pipe(Effect.provide(managerLayer(scripted(), { store: store.layer })))
  })

  it.effect("a fork has a separate log: it outlives its source", () => {
    const store = observed()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const source = yield* manager.create(settings)
      yield* speak(source, "one")
      yield* speak(source, "two")
      const fork = yield* manager.fork(source.id, { _tag: "ThroughSubmission", id: "0" })
      yield* manager.remove(source.id)
      const summary = yield* store.inner.metadata({ id: fork.id })
      assert.strictEqual(summary.meta.forkedFrom, source.id)
      assert.strictEqual(summary.preview, "one")
      yield* TestClock.adjust("1 hour")
      yield* speak(yield* manager.get(fork.id), "other")
      const said = store
        .records(fork.id)
        .flatMap((record) =>
          record._tag === "Event" && record.event.msg.type === "user_message"
            ? [record.event.msg.message]
            : [],
        )
      assert.deepStrictEqual(said, ["one", "other"])
    }).pipe(Effect.provide(managerLayer(scripted(answer("yes")), { store: store.layer })))
  })
})
