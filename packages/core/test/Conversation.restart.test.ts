import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { SettingsResolver } from "../src/ConversationSettings.ts"
import type { StoredSettings } from "../src/StoredSettings.ts"
import type { ToolRuntime } from "../src/ToolRuntime.ts"
import { exec, resolved } from "./approvals.ts"
import {
  calls,
  continued,
  cutOff,
  hanging,
  killed,
  logOf,
  processOver,
  replaying,
} from "./restarts.ts"
import { observed } from "./stores.ts"
import {
  answer,
  callItem,
  durableOf,
  isEnd,
  outputItem,
  says,
  scripted,
  settings,
  settle,
  takeUntil,
  tools,
} from "./support.ts"

const asking = tools({
  ask: (call, { approve }) =>
    Effect.map(approve(exec(call.call_id ?? "")), ({ decision }) => decision),
})

const approve = { type: "exec_approval", id: "c", decision: "approved" } as const

describe("a conversation whose process was killed", () => {
  it.effect("L5 L11 ends the turn that was cut off, and the next one works", () =>
    Effect.gen(function* () {
      const store = observed()
      const hang = tools({ hang: () => Effect.never })
      const first = yield* processOver(store, scripted(calls("hang", "c", "d")), hang)
      const made = yield* first.create(settings)
      const { id } = made
      yield* made.submit(says("hi"), { id: "t" })
      yield* settle
      const script = scripted(answer("yes"))
      const second = yield* processOver(yield* killed(store, id), script)
      const conversation = yield* second.get(id)
      const listener = yield* conversation.attach()
      yield* conversation.submit(says("and now?"))
      yield* takeUntil(listener, isEnd)
      const recorded = (yield* logOf(conversation)).filter(
        (event) => event.id === "t" && event.msg.type !== "user_message",
      )
      assert.deepStrictEqual(recorded.at(-1)?.msg, { type: "turn_aborted", reason: "interrupted" })
      assert.deepStrictEqual(script.requests[0]?.input.slice(-3, -1), [
        callItem("hang", "c"),
        outputItem(
          "c",
          "the process ended while this call ran; it was interrupted, and whether it took effect is unknown",
        ),
      ])
    }),
  )

  for (const onRestart of ["close", "continue"] as const) {
    it.effect(
      `L10 keeps an input that waited, wherever its turn's first records are cut off (${onRestart})`,
      () =>
        Effect.gen(function* () {
          const store = observed()
          const first = yield* processOver(store, scripted(Stream.never, Stream.never))
          const made = yield* first.create({ ...settings, onRestart })
          yield* made.submit(says("hi"), { id: "t" })
          yield* settle
          yield* made.submit(says("later"), { id: "u", whileRunning: "wait" })
          yield* made.cancel("t")
          yield* settle
          const records = store.records(made.id)
          const from = records.findIndex((one) => one._tag === "Submission" && one.id === "u")
          const isInput = ({ id, msg }: Event) => id === "u" && msg.type === "user_message"
          const to = records.findIndex((one) => one._tag === "Event" && isInput(one.event))
          assert.isAbove(to, from)
          for (let count = from + 1; count <= to + 1; count++) {
            const left = yield* killed(store, made.id, count)
            const second = yield* processOver(left, scripted(answer("yes"), answer("yes")))
            const conversation = yield* second.get(made.id)
            yield* settle
            const events = yield* logOf(conversation)
            assert.lengthOf(events.filter(isInput), 1, `${count}`)
            const ends = events.filter(({ id, msg }) => id === "u" && isTerminal(msg))
            assert.lengthOf(ends, 1, `${count}`)
            const texts = events.flatMap(({ msg }) =>
              msg.type === "raw_response_item" ? [JSON.stringify(msg.item)] : [],
            )
            assert.lengthOf(
              texts.filter((text) => text.includes('"later"')),
              1,
              `${count}`,
            )
          }
        }),
    )
  }

  it.effect(
    "L7 asks pending questions again, under their id and number, until their old deadline",
    () =>
      Effect.gen(function* () {
        const store = observed()
        const first = yield* processOver(store, scripted(calls("ask", "c"), answer("end")), asking)
        const made = yield* first.create({ ...settings, approvalDeadline: Duration.minutes(10) })
        const person = yield* made.attach({ answers: true })
        yield* made.submit(says("hi"), { id: "t" })
        yield* takeUntil(person, ({ _tag }) => _tag === "Ask")
        const question = (yield* logOf(made)).at(-1)
        if (question === undefined) return assert.fail("nothing is asked")
        yield* TestClock.adjust("6 minutes")
        const script = scripted(answer("end"))
        const second = yield* processOver(yield* killed(store, made.id), script, asking)
        const conversation = yield* second.get(made.id)
        const listener = yield* conversation.attach({ answers: true })
        const [asked] = (yield* takeUntil(listener, ({ _tag }) => _tag === "Ask")).slice(-1)
        assert.deepStrictEqual(asked, { _tag: "Ask", event: question })
        yield* TestClock.adjust("3 minutes")
        assert.lengthOf((yield* conversation.state).approvals.open, 1)
        yield* TestClock.adjust("1 minute")
        const seen = durableOf(yield* takeUntil(listener, isEnd)).map(({ msg }) => msg)
        assert.deepStrictEqual(seen[0], resolved("c", "denied", "expired"))
        // The call ran again from its start, its output was sent to the model, and the turn has one terminal event.
        assert.deepStrictEqual(script.requests[0]?.input.at(-1), outputItem("c", "denied"))
        assert.strictEqual(seen.at(-1)?.type, "task_complete")
      }),
  )

  it.effect("L7 resumes the turn with the answer, and does not ask again", () =>
    Effect.gen(function* () {
      const store = observed()
      const first = yield* processOver(store, scripted(calls("ask", "c"), answer("end")), asking)
      const made = yield* first.create(settings)
      const person = yield* made.attach({ answers: true })
      yield* made.submit(says("hi"), { id: "t" })
      yield* takeUntil(person, ({ _tag }) => _tag === "Ask")
      // A question stays pending through more than one kill.
      const once = yield* killed(store, made.id)
      yield* (yield* processOver(once, hanging(), asking)).get(made.id)
      const second = yield* processOver(
        yield* killed(once, made.id),
        scripted(answer("end")),
        asking,
      )
      const conversation = yield* second.get(made.id)
      const listener = yield* conversation.attach()
      yield* conversation.submit(approve)
      yield* takeUntil(listener, isEnd)
      const log = yield* logOf(conversation)
      const of = (type: string) => log.filter(({ msg }) => msg.type === type).map(({ msg }) => msg)
      assert.lengthOf(of("exec_approval_request"), 1)
      assert.deepStrictEqual(of("approval_resolved"), [resolved("c", "approved", "answered")])
      assert.deepStrictEqual(
        log.filter(({ id, msg }) => id === "t" && isTerminal(msg)).map(({ msg }) => msg.type),
        ["task_complete"],
      )
      assert.strictEqual(
        (yield* Effect.flip(conversation.submit(approve))).message,
        "the question of call `c` was resolved already: approved (answered)",
      )
    }),
  )

  it.effect("L14 stops a turn that only waits for an answer at once", () =>
    Effect.gen(function* () {
      const store = observed()
      const first = yield* processOver(store, scripted(calls("ask", "c")), asking)
      const made = yield* first.create(settings)
      const person = yield* made.attach({ answers: true })
      yield* made.submit(says("hi"), { id: "t" })
      yield* takeUntil(person, ({ _tag }) => _tag === "Ask")
      for (const op of [
        { type: "interrupt" } as const,
        { ...approve, decision: "abort" } as const,
        { type: "shutdown" } as const,
      ]) {
        const second = yield* processOver(yield* killed(store, made.id), hanging(), asking)
        const conversation = yield* second.get(made.id)
        const listener = yield* conversation.attach()
        yield* conversation.submit(op)
        assert.deepStrictEqual(durableOf(yield* takeUntil(listener, isEnd)).at(-1)?.msg, {
          type: "turn_aborted",
          reason: "interrupted",
        })
      }
    }),
  )

  it.effect(
    "L10 runs queued submissions in their order, and recognizes every id it was given",
    () =>
      Effect.gen(function* () {
        const store = observed()
        const first = yield* processOver(store, hanging())
        const made = yield* first.create(settings)
        yield* made.submit(says("one"), { id: "a" })
        const wait = { whileRunning: "wait" } as const
        yield* made.submit(says("two"), { id: "b", ...wait })
        yield* made.submit(says("three"), wait)
        yield* made.submit(says("first"), { id: "c", whileRunning: "interrupt" })
        const second = yield* processOver(yield* killed(store, made.id), scripted(answer("yes")))
        const conversation = yield* second.get(made.id)
        yield* settle
        yield* settle
        const said = (yield* logOf(conversation)).flatMap(({ msg }) =>
          msg.type === "user_message" ? [msg.message] : [],
        )
        assert.deepStrictEqual(said, ["one", "first", "two", "three"])
        assert.deepStrictEqual(yield* conversation.submit(says("two"), { id: "b" }), {
          id: "b",
          disposition: "waiting",
        })
        assert.strictEqual(
          (yield* Effect.flip(conversation.submit(says("x"), { id: "0" }))).message,
          "submission id `0` is already in use",
        )
        assert.strictEqual((yield* conversation.state).turn, undefined)
      }),
  )

  it.effect("continues with the settings that were in effect", () =>
    Effect.gen(function* () {
      const store = observed()
      const first = yield* processOver(store, scripted(answer("yes")))
      const made = yield* first.create(settings)
      yield* made.submit({ type: "override_turn_context", cwd: "/else", effort: "high" })
      const expected = (yield* made.state).settings
      const second = yield* processOver(yield* killed(store, made.id), hanging())
      const { settings: restored } = yield* (yield* second.get(made.id)).state
      assert.deepStrictEqual(restored, expected)
      assert.notInclude(JSON.stringify(store.records(made.id)), "httpHeaders")
    }),
  )

  it.effect("names the provider that is not configured, and what to add", () =>
    Effect.gen(function* () {
      const store = observed()
      const first = yield* processOver(store, hanging())
      const gone = { ...settings, provider: { ...settings.provider, id: "gone" } }
      const made = yield* first.create(gone)
      const second = yield* processOver(yield* killed(store, made.id), hanging())
      const error = yield* Effect.flip(second.get(made.id))
      assert.strictEqual(
        error._tag === "ConversationUnavailable" ? error.because?._tag : undefined,
        "ProviderGone",
      )
      assert.match(
        error.message,
        /its model provider `gone` is not configured: add `model_providers\.gone`$/,
      )
    }),
  )

  it.effect("is loaded, copied and recorded with other settings where its manager has a rule", () =>
    Effect.gen(function* () {
      const store = observed()
      const first = yield* processOver(store, hanging())
      const gone = { ...settings, provider: { ...settings.provider, id: "gone" } }
      const made = yield* first.create(gone)
      const other = { provider: settings.provider.id, model: "other" }
      const rule = { storedSettings: (stored: StoredSettings) => ({ ...stored, ...other }) }
      const left = yield* killed(store, made.id)
      const second = yield* processOver(left, hanging(), undefined, undefined, rule)
      const conversation = yield* second.get(made.id)
      const now = (yield* conversation.state).settings
      assert.deepStrictEqual(now, { ...settings, model: "other" })
      const copy = yield* second.fork(made.id, { _tag: "DropLastUserMessages", n: 0 })
      assert.deepStrictEqual((yield* copy.state).settings, now)
      yield* conversation.submit({ type: "override_turn_context", effort: "high" })
      const third = yield* processOver(yield* killed(left, made.id), hanging())
      const restored = (yield* (yield* third.get(made.id)).state).settings
      assert.deepStrictEqual(restored, { ...now, effort: "high" })
    }),
  )

  it.effect("records such settings with its first turn, and not before", () =>
    Effect.gen(function* () {
      const store = observed()
      const first = yield* processOver(store, hanging())
      const made = yield* first.create({ ...settings, model: "first" })
      const rule = {
        storedSettings: (stored: StoredSettings) =>
          stored.model === "first" ? { ...stored, model: "second" } : stored,
      }
      const left = yield* killed(store, made.id)
      const script = scripted(answer("one"), answer("two"))
      const second = yield* processOver(left, script, undefined, undefined, rule)
      const conversation = yield* second.get(made.id)
      const recorded = () =>
        left
          .records(made.id)
          .flatMap((one) => (one._tag === "Settings" ? [one.settings.model] : []))
      const listener = yield* conversation.attach()
      assert.deepStrictEqual(recorded(), ["first"])
      for (const text of ["hi", "and?"]) {
        yield* conversation.submit(says(text))
        yield* takeUntil(listener, isEnd)
        assert.deepStrictEqual(recorded(), ["first", "second"])
      }
      const third = yield* processOver(yield* killed(left, made.id), hanging())
      assert.strictEqual((yield* (yield* third.get(made.id)).state).settings.model, "second")
    }),
  )

  it.effect("records such settings with the turn that a restart resumes", () =>
    Effect.gen(function* () {
      const { id, left, hang } = yield* cutOff("safe")
      const rule = { storedSettings: (stored: StoredSettings) => ({ ...stored, model: "second" }) }
      yield* (yield* processOver(left, hanging(), hang, undefined, rule)).get(id)
      yield* settle
      const third = yield* processOver(yield* killed(left, id), hanging(), hang)
      assert.strictEqual((yield* (yield* third.get(id)).state).settings.model, "second")
    }),
  )

  it.effect("L11 keeps the laws wherever its log is cut off", () =>
    Effect.gen(function* () {
      const store = observed()
      const script = scripted(
        calls("ask", "c"),
        calls("look", "d", "e"),
        answer("one"),
        calls("ask", "f"),
        Stream.never,
      )
      const first = yield* processOver(store, script, asking)
      const made = yield* first.create(settings)
      const person = yield* made.attach({ answers: true })
      yield* made.submit(says("hi"), { id: "t" })
      yield* takeUntil(person, ({ _tag }) => _tag === "Ask")
      yield* made.submit(says("joins"))
      yield* made.submit(says("waits"), { id: "w", whileRunning: "wait" })
      yield* made.submit(approve)
      yield* takeUntil(person, isEnd)
      yield* takeUntil(person, ({ _tag }) => _tag === "Ask")
      yield* made.submit({ type: "interrupt" })
      yield* takeUntil(person, isEnd)
      const records = store.records(made.id)
      assert.isAbove(records.length, 40)
      for (let count = 1; count <= records.length; count++) {
        const left = yield* killed(store, made.id, count)
        const second = yield* processOver(left, scripted(answer("end")), asking)
        const conversation = yield* second.get(made.id)
        const listener = yield* conversation.attach()
        yield* conversation.submit({ type: "interrupt" })
        yield* conversation.submit(says("again"), { id: "again", whileRunning: "wait" })
        yield* takeUntil(listener, (d) => isEnd(d) && d._tag === "Event" && d.event.id === "again")
        const log = yield* logOf(conversation)
        assert.deepStrictEqual(
          log.map(({ seq }) => seq),
          log.map((_, i) => i),
        )
        const kept = records
          .slice(0, count)
          .flatMap((record) => (record._tag === "Event" ? [record.event] : []))
        assert.deepStrictEqual(log.slice(0, kept.length), kept)
        for (const { id, msg } of log) {
          if (msg.type !== "task_started") continue
          const ends = log.filter((event) => event.id === id && isTerminal(event.msg))
          assert.lengthOf(ends, 1, `cut at ${count}: turn ${id}`)
        }
      }
    }),
  )
})

describe("a turn that is resumed", () => {
  it.effect("runs a safe call again, reports that, and ends once", () =>
    Effect.gen(function* () {
      const { id, left } = yield* cutOff("safe")
      const script = scripted(answer("end"))
      const runs: Array<string> = []
      const work = replaying("safe", ({ call_id }) =>
        Effect.sync(() => {
          runs.push(call_id ?? "")
          return "done after all"
        }),
      )
      const conversation = yield* (yield* processOver(left, script, work)).get(id)
      yield* settle
      assert.deepStrictEqual(runs, ["c"])
      assert.deepStrictEqual(script.requests[0]?.input.at(-1), outputItem("c", "done after all"))
      const log = yield* logOf(conversation)
      assert.deepInclude(
        log.map(({ msg }) => msg),
        {
          type: "background_event",
          message: "the process ended during this turn; the turn is resumed, attempt 2 of 3",
        },
      )
      assert.deepStrictEqual(
        log.filter(({ msg }) => isTerminal(msg)).map((event) => [event.id, event.msg.type]),
        [["t", "task_complete"]],
      )
    }),
  )

  it.effect("asks a person before a call that may have taken effect runs again", () =>
    Effect.gen(function* () {
      for (const [decision, output] of [
        ["approved", "again"],
        [
          "denied",
          "the process ended while this call ran; it was interrupted, and whether it took effect is unknown; running it again was not approved",
        ],
      ] as const) {
        const { id, left } = yield* cutOff("ask", { unattended: "park" })
        const script = scripted(answer("end"))
        const work = replaying("ask", () => Effect.succeed("again"))
        const conversation = yield* (yield* processOver(left, script, work)).get(id)
        const listener = yield* conversation.attach({ answers: true })
        const [asked] = (yield* takeUntil(listener, ({ _tag }) => _tag === "Ask")).slice(-1)
        assert.include(JSON.stringify(asked), "Run it again?")
        yield* conversation.submit({ type: "exec_approval", id: "c", decision })
        yield* takeUntil(listener, isEnd)
        assert.deepStrictEqual(script.requests[0]?.input.at(-1), outputItem("c", output))
      }
    }),
  )

  it.effect("asks about a tool of the application by its name, not as about a command", () =>
    Effect.gen(function* () {
      const { id, left } = yield* cutOff("ask", { unattended: "park" })
      const script = scripted(answer("end"))
      const work = replaying("ask", () => Effect.succeed("again"))
      const ofApplication: ToolRuntime["Service"] = {
        ...work,
        open: (context) =>
          Effect.map(work.open(context), (tools) => ({
            ...tools,
            questionOf: () => ({ tool: "work", arguments: { hard: true } }),
          })),
      }
      const conversation = yield* (yield* processOver(left, script, ofApplication)).get(id)
      const listener = yield* conversation.attach({ answers: true })
      const [asked] = (yield* takeUntil(listener, ({ _tag }) => _tag === "Ask")).slice(-1)
      const msg = asked?._tag === "Ask" ? asked.event.msg : undefined
      assert.deepInclude(msg, {
        type: "tool_approval_request",
        tool: "work",
        arguments: { hard: true },
      })
      assert.include(JSON.stringify(msg), "no sandbox of this server confines it")
      yield* conversation.submit({ type: "tool_approval", id: "c", decision: "approved" })
      yield* takeUntil(listener, isEnd)
      assert.deepStrictEqual(script.requests[0]?.input.at(-1), outputItem("c", "again"))
    }),
  )

  it.effect(
    "L7 asks the client that loads it and attaches a moment later, and does not apply the setting",
    () =>
      Effect.gen(function* () {
        const { id, left } = yield* cutOff("ask", { unattended: "deny" })
        const script = scripted(answer("end"))
        const work = replaying("ask", () => Effect.succeed("again"))
        const conversation = yield* (yield* processOver(left, script, work)).get(id)
        yield* settle
        yield* TestClock.adjust("4999 millis")
        const listener = yield* conversation.attach({ answers: true })
        yield* takeUntil(listener, ({ _tag }) => _tag === "Ask")
        // The deadline of the question starts when a listener that can answer attaches.
        yield* TestClock.adjust("9 minutes")
        yield* conversation.submit({ type: "exec_approval", id: "c", decision: "approved" })
        yield* takeUntil(listener, isEnd)
        assert.deepStrictEqual(script.requests[0]?.input.at(-1), outputItem("c", "again"))
      }),
  )

  it.effect("L7 lets the setting decide when no listener attached within five seconds", () =>
    Effect.gen(function* () {
      const { id, left } = yield* cutOff("ask", { unattended: "deny" })
      const script = scripted(answer("end"))
      const work = replaying("ask", () => Effect.die("it ran"))
      const conversation = yield* (yield* processOver(left, script, work)).get(id)
      // A listener that cannot answer does not count.
      const listener = yield* conversation.attach()
      yield* TestClock.adjust("4999 millis")
      const verdicts = Effect.map(logOf(conversation), (log) =>
        log.flatMap(({ msg }) => (msg.type === "approval_resolved" ? [msg] : [])),
      )
      assert.deepStrictEqual(yield* verdicts, [])
      yield* TestClock.adjust("1 millis")
      yield* takeUntil(listener, isEnd)
      assert.deepStrictEqual(yield* verdicts, [resolved("c", "denied", "unattended")])
      assert.match(JSON.stringify(script.requests[0]?.input.at(-1)), /again was not approved/)
    }),
  )

  it.effect("L7 lets a function decide then, and continues to wait if that is the setting", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const allow = ({ callId }: { readonly callId: string }) => asked.push(callId) > 0
      for (const [unattended, open] of [
        [{ allow }, 0],
        ["park", 1],
      ] as const) {
        const { id, left } = yield* cutOff("ask")
        const work = replaying("ask", () => Effect.never)
        const layer = Layer.succeed(SettingsResolver, {
          resolve: () => Effect.succeed({ ...continued, unattended }),
        })
        const second = yield* processOver(left, hanging(), work, layer)
        const conversation = yield* second.get(id)
        yield* settle
        assert.lengthOf((yield* conversation.state).approvals.open, 1)
        yield* TestClock.adjust("5 seconds")
        assert.lengthOf((yield* conversation.state).approvals.open, open)
      }
      assert.deepStrictEqual(asked, ["c"])
    }),
  )

  it.effect("reports a call that never runs again to the model", () =>
    Effect.gen(function* () {
      const { id, left } = yield* cutOff("never")
      const script = scripted(answer("end"))
      const work = replaying("never", () => Effect.die("it ran"))
      yield* (yield* processOver(left, script, work)).get(id)
      yield* settle
      assert.deepStrictEqual(
        script.requests[0]?.input.at(-1),
        outputItem(
          "c",
          "the process ended while this call ran; it was interrupted, and whether it took effect is unknown",
        ),
      )
    }),
  )

  it.effect("is abandoned after three attempts, with that reason", () =>
    Effect.gen(function* () {
      const { hang, id, left } = yield* cutOff("safe")
      let store = left
      for (const attempt of [2, 3]) {
        const conversation = yield* (yield* processOver(store, hanging(), hang)).get(id)
        yield* settle
        const last = (yield* logOf(conversation)).at(-1)?.msg
        assert.include(JSON.stringify(last), `attempt ${attempt} of 3`)
        store = yield* killed(store, id)
      }
      const log = yield* logOf(yield* (yield* processOver(store, hanging(), hang)).get(id))
      assert.deepStrictEqual(
        log.slice(-2).map(({ msg }) => msg),
        [
          {
            type: "background_event",
            message: "the process ended 3 times during this turn; the turn is aborted",
          },
          { type: "turn_aborted", reason: "interrupted" },
        ],
      )
    }),
  )

  it.effect("L14 stays interrupted when it was interrupted before the kill", () =>
    Effect.gen(function* () {
      const store = observed()
      const stubborn = replaying("safe", () =>
        Effect.onInterrupt(Effect.never, () => Effect.sleep("1 hour")),
      )
      const first = yield* processOver(store, scripted(calls("work", "c")), stubborn)
      const made = yield* first.create(continued)
      yield* made.submit(says("hi"), { id: "t" })
      yield* settle
      yield* made.submit({ type: "interrupt" })
      const second = yield* processOver(yield* killed(store, made.id), hanging(), stubborn)
      const conversation = yield* second.get(made.id)
      assert.strictEqual((yield* conversation.state).turn, undefined)
      assert.deepStrictEqual((yield* logOf(conversation)).at(-1)?.msg, {
        type: "turn_aborted",
        reason: "interrupted",
      })
    }),
  )
})
