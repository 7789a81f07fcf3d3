import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { Op } from "@colloquy/protocol/Op"
import { assert, describe, it } from "@effect/vitest"
import { ConversationClosed, SubmissionRefused } from "../src/ConversationErrors.ts"
import {
  type Decision,
  decide,
  type Draft,
  type Input,
  initial,
  maxWaiting,
  number,
  project,
  type State,
  type TurnExit,
  type WhileRunning,
} from "../src/ConversationState.ts"
import { environmentContext } from "../src/EnvironmentContext.ts"
import { says, settings, usage, userItem } from "./support.ts"

const submit = (
  op: Op,
  options: { readonly id?: string; readonly whileRunning?: WhileRunning } = {},
): Input => ({
  _tag: "Submit",
  id: options.id,
  op,
  whileRunning: options.whileRunning ?? "queue",
})
const cancel = (id: string): Input => ({ _tag: "Cancel", id })
const emit = (turnId: string, ...messages: ReadonlyArray<EventMsg>): Input => ({
  _tag: "Emit",
  turnId,
  messages,
})
const advance = (
  turnId: string,
  fields: { readonly sawSeq?: number; readonly followUp?: boolean; readonly lastMessage?: string },
): Input => ({ _tag: "Advance", turnId, sawSeq: 99, followUp: false, lastMessage: null, ...fields })
const ended = (turnId: string, exit: TurnExit): Input => ({ _tag: "Ended", turnId, exit })
const failure: TurnExit = { _tag: "Failed", message: "boom" }
const interruption: TurnExit = { _tag: "Interrupted" }

const next = ({ state, events }: Decision): State =>
  number(state.seq, events).reduce(project, state)

const after = (state: State, ...inputs: ReadonlyArray<Input>): State =>
  inputs.reduce((s, input) => next(decide(s, input)), state)

/** A decision without the state. */
const say = (state: State, input: Input): Omit<Decision, "state"> => {
  const { state: _, ...rest } = decide(state, input)
  return rest
}

const draft = (id: string, msg: EventMsg): Draft => ({ id, msg })
const inputOf = (id: string, text: string): ReadonlyArray<Draft> => [
  draft(id, { type: "raw_response_item", item: userItem(text) }),
  draft(id, { type: "user_message", message: text, kind: "plain" }),
]
const startOf = (id: string, text: string): ReadonlyArray<Draft> => [
  draft(id, { type: "task_started", model_context_window: null }),
  ...inputOf(id, text),
]
const turnAborted = (id: string) => draft(id, { type: "turn_aborted", reason: "interrupted" })
const taskComplete = (id: string, last_agent_message: string | null) =>
  draft(id, { type: "task_complete", last_agent_message })
const shutdownComplete = (id: string) => draft(id, { type: "shutdown_complete" })

const fresh = initial(settings)
const idle: State = { ...fresh, seq: 2 }
const running = after(idle, submit(says("a"), { id: "a" }))
const withWaiting = (...ids: ReadonlyArray<string>): State =>
  after(running, ...ids.map((id) => submit(says(id), { id, whileRunning: "wait" })))
const stopping = (...ids: ReadonlyArray<string>): State => after(withWaiting(...ids), cancel("a"))

const refusal = (reason: SubmissionRefused["reason"], message: string) => ({
  events: [],
  actions: [],
  refused: new SubmissionRefused({ reason, message }),
})
const nothing = { events: [], actions: [] }
const turnOp = (fields: Partial<Extract<Op, { type: "user_turn" }>> = {}): Op => ({
  type: "user_turn",
  items: [{ type: "text", text: "hi" }],
  cwd: settings.cwd,
  approval_policy: settings.approvalPolicy,
  sandbox_policy: settings.sandboxPolicy,
  model: settings.model,
  summary: "auto",
  ...fields,
})

describe("decide: an idle conversation", () => {
  it("starts a turn on user_input, whatever the mode", () => {
    for (const whileRunning of ["queue", "wait", "reject"] as const) {
      assert.deepStrictEqual(say(idle, submit(says("hi"), { whileRunning })), {
        events: startOf("0", "hi"),
        actions: [{ _tag: "StartTurn", id: "0" }],
        receipt: { id: "0", disposition: "started" },
      })
    }
  })

  it("takes input without items as nothing at all", () => {
    for (const op of [turnOp({ items: [] }), { type: "user_input", items: [] } as const]) {
      assert.deepStrictEqual(say(idle, submit(op)), {
        ...nothing,
        receipt: { id: "0", disposition: "none" },
      })
      assert.deepStrictEqual(decide(idle, submit(op)).state.settings, settings)
    }
  })

  it("tells the model of a changed environment before a user_turn, and keeps the change", () => {
    const decision = decide(
      idle,
      submit(turnOp({ cwd: "/else", model: "other", effort: "low", summary: "none" })),
    )
    const changed = {
      ...settings,
      cwd: "/else",
      model: "other",
      effort: "low",
      summary: "none",
    } as const
    assert.deepStrictEqual(decision.events, [
      draft("0", { type: "raw_response_item", item: environmentContext(changed) }),
      ...startOf("0", "hi"),
    ])
    assert.deepStrictEqual(decision.state.settings, changed)
  })

  it("says nothing of the environment when a user_turn does not change it", () => {
    assert.deepStrictEqual(
      decide(idle, submit(turnOp({ model: "other" }))).events,
      startOf("0", "hi"),
    )
  })

  it("overrides the context of later turns: absent keeps, null clears", () => {
    const op = { type: "override_turn_context", approval_policy: "untrusted" } as const
    const low = { ...idle, settings: { ...settings, effort: "low" } } as const
    const kept = decide(low, submit(op))
    assert.deepStrictEqual(kept.state.settings, {
      ...settings,
      approvalPolicy: "untrusted",
      effort: "low",
    })
    assert.deepStrictEqual(kept.events, [
      draft("0", { type: "raw_response_item", item: environmentContext(kept.state.settings) }),
    ])
    assert.deepStrictEqual(kept.receipt, { id: "0", disposition: "none" })
    const cleared = decide(low, submit({ type: "override_turn_context", effort: null }))
    assert.deepStrictEqual([cleared.state.settings, cleared.events], [settings, []])
  })

  it("has nothing to interrupt, cancel or advance", () => {
    assert.deepStrictEqual(say(idle, submit({ type: "interrupt" })), {
      ...nothing,
      receipt: { id: "0", disposition: "none" },
    })
    assert.deepStrictEqual(decide(idle, cancel("0")), { state: idle, ...nothing })
    assert.deepStrictEqual(decide(idle, emit("0", { type: "agent_message", message: "x" })), {
      state: idle,
      ...nothing,
    })
    assert.deepStrictEqual(say(idle, advance("0", { followUp: true })), {
      ...nothing,
      goOn: false,
    })
    assert.deepStrictEqual(say(idle, ended("0", failure)), nothing)
  })

  it("ends at once on shutdown and refuses everything after", () => {
    assert.deepStrictEqual(say(idle, submit({ type: "shutdown" }, { id: "bye" })), {
      events: [shutdownComplete("bye")],
      actions: [{ _tag: "Close" }],
      receipt: { id: "bye", disposition: "none" },
    })
    const closed = after(idle, submit({ type: "shutdown" }))
    for (const op of [says("x"), { type: "shutdown" } as const, { type: "interrupt" } as const]) {
      assert.deepStrictEqual(decide(closed, submit(op)), {
        state: closed,
        ...nothing,
        refused: new ConversationClosed(),
      })
    }
  })

  it("refuses ops it does not know what to do with and keeps their id free", () => {
    const ops: ReadonlyArray<Op> = [
      { type: "exec_approval", id: "1", decision: "approved" },
      { type: "patch_approval", id: "1", decision: "denied" },
      { type: "add_to_history", text: "x" },
      { type: "get_history_entry_request", offset: 0, log_id: 0 },
      { type: "get_path" },
      { type: "list_mcp_tools" },
      { type: "list_custom_prompts" },
      { type: "compact" },
      { type: "review", review_request: { prompt: "p", user_facing_hint: "h" } },
    ]
    for (const op of ops) {
      assert.deepStrictEqual(decide(idle, submit(op, { id: "x" })), {
        state: idle,
        ...refusal("UnsupportedOp", `op \`${op.type}\` is not supported by this conversation`),
      })
    }
  })
})

describe("decide: a running turn", () => {
  it("takes queued input in, under the turn's id", () => {
    for (const op of [says("b"), turnOp({ items: [{ type: "text", text: "b" }], cwd: "/else" })]) {
      const decision = decide(running, submit(op, { id: "b" }))
      assert.deepStrictEqual(decision.events, inputOf("a", "b"))
      assert.deepStrictEqual(decision.actions, [])
      assert.deepStrictEqual(decision.receipt, { id: "a", disposition: "joined" })
      assert.deepStrictEqual(decision.state.settings, settings)
      assert.strictEqual(next(decision).turn?.inputSeq, 6)
    }
  })

  it("lets input wait for a turn of its own, in order", () => {
    assert.deepStrictEqual(say(running, submit(says("b"), { id: "b", whileRunning: "wait" })), {
      ...nothing,
      receipt: { id: "b", disposition: "waiting" },
    })
    assert.deepStrictEqual(
      withWaiting("b", "c").waiting.map(({ id }) => id),
      ["b", "c"],
    )
  })

  it("refuses input with reject, and the id stays free for another try", () => {
    const input = submit(says("b"), { id: "b", whileRunning: "reject" })
    assert.deepStrictEqual(decide(running, input), {
      state: running,
      ...refusal("TurnRunning", "turn `a` is running"),
    })
  })

  it("lets at most 64 submissions wait, and the one refused leaves nothing behind", () => {
    const full = withWaiting(...Array.from({ length: maxWaiting }, (_, i) => `w${i}`))
    assert.strictEqual(full.waiting.length, 64)
    for (const id of ["one-more", undefined]) {
      const input = submit(says("b"), { ...(id === undefined ? {} : { id }), whileRunning: "wait" })
      assert.deepStrictEqual(decide(full, input), {
        state: full,
        ...refusal("TooManyWaiting", "64 submissions are waiting already"),
      })
    }
  })

  it("applies the context of a waiting user_turn when that turn starts, not before", () => {
    const waits = after(
      running,
      submit(turnOp({ cwd: "/else" }), { id: "b", whileRunning: "wait" }),
    )
    assert.deepStrictEqual(waits.settings, settings)
    const over = decide(waits, advance("a", { lastMessage: "done" }))
    const changed = { ...settings, cwd: "/else" }
    assert.deepStrictEqual(over.events, [
      taskComplete("a", "done"),
      draft("b", { type: "raw_response_item", item: environmentContext(changed) }),
      ...startOf("b", "hi"),
    ])
    assert.deepStrictEqual(over.state.settings, changed)
  })

  it("records what the turn emits, and nothing of another turn", () => {
    const message: EventMsg = { type: "agent_message", message: "x" }
    assert.deepStrictEqual(say(running, emit("a", message, message)), {
      events: [draft("a", message), draft("a", message)],
      actions: [],
    })
    assert.deepStrictEqual(say(running, emit("b", message)), nothing)
  })

  it("sends another request for a follow-up or for input the last one had not seen", () => {
    const seen = running.seq - 1
    const step = (fields: Parameters<typeof advance>[1]) => say(running, advance("a", fields))
    assert.deepStrictEqual(step({ sawSeq: seen, followUp: true }), { ...nothing, goOn: true })
    assert.deepStrictEqual(step({ sawSeq: seen - 1 }), { ...nothing, goOn: true })
    assert.deepStrictEqual(step({ sawSeq: seen, lastMessage: "x" }), {
      events: [taskComplete("a", "x")],
      actions: [],
      goOn: false,
    })
    const more = after(running, submit(says("b")))
    assert.deepStrictEqual(say(more, advance("a", { sawSeq: seen })).goOn, true)
    assert.deepStrictEqual(say(more, advance("a", { sawSeq: more.seq - 1 })).goOn, false)
    assert.deepStrictEqual(say(running, advance("z", { followUp: true })).goOn, false)
  })

  it("L5 ends a failed turn with error, then task_complete", () => {
    assert.deepStrictEqual(say(running, ended("a", failure)), {
      events: [draft("a", { type: "error", message: "boom" }), taskComplete("a", null)],
      actions: [],
    })
  })

  it("L5 ends an interrupted turn with turn_aborted alone", () => {
    for (const state of [running, stopping()]) {
      assert.deepStrictEqual(say(state, ended("a", interruption)), {
        events: [turnAborted("a")],
        actions: [],
      })
    }
  })

  it("L5 gives no second terminal event to a turn that is over", () => {
    const over = after(running, advance("a", {}))
    assert.strictEqual(over.turn, undefined)
    assert.deepStrictEqual(say(over, ended("a", interruption)), nothing)
    assert.deepStrictEqual(say(over, cancel("a")), nothing)
    assert.deepStrictEqual(say(over, advance("a", {})), { ...nothing, goOn: false })
  })

  it("starts the next waiting submission behind every kind of end", () => {
    for (const end of [advance("a", {}), ended("a", failure), ended("a", interruption)]) {
      const decision = decide(withWaiting("b", "c"), end)
      assert.deepStrictEqual(decision.events.slice(-3), startOf("b", "b"))
      assert.deepStrictEqual(decision.actions, [{ _tag: "StartTurn", id: "b" }])
      assert.deepStrictEqual(
        next(decision).waiting.map(({ id }) => id),
        ["c"],
      )
      assert.strictEqual(next(decision).turn?.id, "b")
    }
  })
})

describe("decide: stopping", () => {
  it("interrupts the running turn once", () => {
    const decision = decide(running, cancel("a"))
    assert.deepStrictEqual([decision.events, decision.actions], [[], [{ _tag: "InterruptTurn" }]])
    assert.strictEqual(next(decision).turn?.aborting, "interrupted")
    assert.deepStrictEqual(say(stopping(), cancel("a")), nothing)
    assert.deepStrictEqual(say(stopping(), submit({ type: "interrupt" })), {
      ...nothing,
      receipt: { id: "0", disposition: "none" },
    })
  })

  it("L5 cancels a waiting submission with its terminal event and leaves the others", () => {
    const decision = decide(withWaiting("b", "c"), cancel("b"))
    assert.deepStrictEqual([decision.events, decision.actions], [[turnAborted("b")], []])
    assert.deepStrictEqual(
      next(decision).waiting.map(({ id }) => id),
      ["c"],
    )
    assert.strictEqual(next(decision).turn?.id, "a")
  })

  it("leaves everything alone when the cancelled submission is unknown or joined another", () => {
    const joined = after(withWaiting("b"), submit(says("x"), { id: "x" }))
    for (const id of ["x", "nobody", "0"]) {
      assert.deepStrictEqual(decide(joined, cancel(id)), { state: joined, ...nothing })
    }
  })

  it("L5 drops what waits on interrupt, each with its terminal event", () => {
    const decision = decide(withWaiting("b", "c"), submit({ type: "interrupt" }))
    assert.deepStrictEqual(decision.events, [turnAborted("b"), turnAborted("c")])
    assert.deepStrictEqual(decision.actions, [{ _tag: "InterruptTurn" }])
    assert.deepStrictEqual(next(decision).waiting, [])
    assert.strictEqual(next(decision).turn?.aborting, "interrupted")
  })

  it("sends no further request for a turn that is being stopped", () => {
    assert.deepStrictEqual(say(stopping(), advance("a", { followUp: true })), {
      ...nothing,
      goOn: false,
    })
    assert.deepStrictEqual(say(stopping(), advance("a", {})), { ...nothing, goOn: false })
  })

  it("ends as interrupted when a failure races with the interrupt", () => {
    assert.deepStrictEqual(say(stopping(), ended("a", failure)), {
      events: [turnAborted("a")],
      actions: [],
    })
  })

  it("gives input that arrives while a turn stops a turn of its own", () => {
    const decision = decide(stopping(), submit(says("b"), { id: "b" }))
    assert.deepStrictEqual(
      [decision.events, decision.receipt],
      [[], { id: "b", disposition: "waiting" }],
    )
  })

  it("L5 shuts a running conversation down behind the terminal event of its turn", () => {
    const decision = decide(withWaiting("b"), submit({ type: "shutdown" }, { id: "bye" }))
    assert.deepStrictEqual(
      [decision.events, decision.actions, decision.receipt],
      [[turnAborted("b")], [{ _tag: "InterruptTurn" }], { id: "bye", disposition: "none" }],
    )
    for (const end of [ended("a", interruption), ended("a", failure)]) {
      assert.deepStrictEqual(say(next(decision), end), {
        events: [turnAborted("a"), shutdownComplete("bye")],
        actions: [{ _tag: "Close" }],
      })
    }
  })

  it("L5 shuts down also while a turn is being stopped already", () => {
    const decision = decide(stopping("b"), submit({ type: "shutdown" }, { id: "bye" }))
    assert.deepStrictEqual([decision.events, decision.actions], [[turnAborted("b")], []])
    assert.deepStrictEqual(say(next(decision), ended("a", interruption)).events, [
      turnAborted("a"),
      shutdownComplete("bye"),
    ])
  })
})

describe("submission ids", () => {
  const receiptOf = (state: State, id?: string) =>
    decide(state, submit({ type: "interrupt" }, id === undefined ? {} : { id }))

  it("counts automatic ids from 0 and steps over chosen ones", () => {
    let state: State = after(idle, submit({ type: "interrupt" }, { id: "1" }))
    const ids = [0, 1, 2].map(() => {
      const decision = receiptOf(state)
      state = next(decision)
      return decision.receipt?.id
    })
    assert.deepStrictEqual(ids, ["0", "2", "3"])
  })

  it("refuses an id that was chosen or given before, and nothing changes", () => {
    const state = after(idle, submit({ type: "interrupt" }, { id: "x" }), submit(says("hi")))
    for (const id of ["x", "0"]) {
      assert.deepStrictEqual(receiptOf(state, id), {
        state,
        ...refusal("DuplicateId", `submission id \`${id}\` is taken`),
      })
    }
  })

  it("takes ids that only look like a number that was given", () => {
    const state = after(idle, submit({ type: "interrupt" }), submit({ type: "interrupt" }))
    for (const id of ["-1", "0.5", "00", "", "-Infinity", "1e0", " 1", "2"]) {
      assert.deepStrictEqual(receiptOf(state, id).receipt, { id, disposition: "none" }, id)
    }
  })
})

describe("number and project", () => {
  const text: EventMsg = { type: "agent_message", message: "x" }
  const piece: EventMsg = { type: "agent_message_delta", delta: "x" }

  it("L4 numbers durable events without a gap and deltas by the event they follow", () => {
    assert.deepStrictEqual(
      number(
        5,
        [piece, text, piece, piece, text].map((msg) => draft("a", msg)),
      ).map(({ seq }) => seq),
      [4, 5, 5, 5, 6],
    )
  })

  it("folds durable events into the state and leaves deltas out", () => {
    assert.strictEqual(project(running, { seq: 4, id: "a", msg: piece }), running)
    assert.deepStrictEqual(project(running, { seq: 5, id: "a", msg: text }), {
      ...running,
      seq: 6,
    })
  })

  it("knows the running turn by its start and end", () => {
    const started = project(idle, {
      seq: 2,
      id: "t",
      msg: { type: "task_started", model_context_window: null },
    })
    assert.deepStrictEqual(started, { ...idle, seq: 3, turn: { id: "t", inputSeq: 2 } })
    for (const msg of [taskComplete("t", null).msg, turnAborted("t").msg]) {
      assert.strictEqual(project(started, { seq: 3, id: "t", msg }).turn, undefined)
      assert.deepStrictEqual(project(started, { seq: 3, id: "other", msg }), {
        ...started,
        seq: 4,
      })
    }
  })

  it("keeps the usage that was reported last", () => {
    const info = {
      total_token_usage: usage(10, 5),
      last_token_usage: usage(1, 1),
      model_context_window: null,
    }
    const counted = project(idle, { seq: 2, id: "a", msg: { type: "token_count", info } })
    assert.deepStrictEqual(counted.usage, usage(10, 5))
    assert.deepStrictEqual(
      project(counted, { seq: 3, id: "a", msg: { type: "token_count", info: null } }).usage,
      usage(10, 5),
    )
  })
})
