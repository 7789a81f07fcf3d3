import { assert, describe, it } from "@effect/vitest"
import {
  type Action,
  type ChatState,
  initialState,
  onKey,
} from "../../src/terminal/chat/ChatState.ts"
import type { Key } from "../../src/terminal/chat/line/Editor.ts"
import { questionOf, settleMs } from "../../src/terminal/chat/Question.ts"

const ctrl = (name: string): Key => ({ name, ctrl: true, sequence: "" })
const named = (name: string): Key => ({ name, sequence: "" })
const text = (letters: string): ReadonlyArray<Key> =>
  Array.from(letters, (sequence) => ({ name: sequence, sequence }))

/** The state and all actions after the keys. */
const press = (
  state: ChatState,
  keys: ReadonlyArray<Key>,
  nowMs = 10_000,
): readonly [ChatState, ReadonlyArray<Action>] => {
  const actions: Array<Action> = []
  let last = state
  for (const key of keys) {
    const [next, more] = onKey(last, key, nowMs)
    last = next
    actions.push(...more)
  }
  return [last, actions]
}

const running: ChatState = {
  ...initialState,
  turn: { id: "7", startedMs: 0, isStopping: false },
}

const question = questionOf(
  {
    id: "1",
    seq: 4,
    msg: { type: "exec_approval_request", call_id: "call", command: ["rm", "x"], cwd: "/tmp" },
  },
  0,
)
if (question === undefined) throw new Error("no question")

describe("ChatState", () => {
  it("sends what was typed, and keeps it among the earlier messages", () => {
    const [sent, actions] = press(initialState, [...text("hi"), named("return")])
    assert.deepStrictEqual(actions, [{ _tag: "Send", text: "hi" }])
    assert.strictEqual(sent.line.text, "")
    const [again] = press(sent, [...text("dra"), named("up")])
    assert.strictEqual(again.line.text, "hi")
    const [back] = press(again, [named("down")])
    assert.strictEqual(back.line.text, "dra")
  })

  it("sends also while a turn runs, and shows that it waits", () => {
    const [state, actions] = press(running, [...text("more"), named("return")])
    assert.deepStrictEqual(actions, [{ _tag: "Send", text: "more" }])
    assert.deepStrictEqual(state.sent, ["more"])
  })

  it("Ctrl-C interrupts the turn, and a second one ends the chat", () => {
    const [stopping, first] = press(running, [ctrl("c")])
    assert.deepStrictEqual(first, [{ _tag: "Interrupt", turn: "7" }])
    assert.deepStrictEqual(press(stopping, [ctrl("c")])[1], [{ _tag: "Quit", code: 130 }])
  })

  it("a second Ctrl-C ends the chat also where the next turn has just begun, and interrupts it later", () => {
    const [stopping] = press(running, [ctrl("c")])
    const next = { ...stopping, turn: { id: "8", startedMs: 10_000, isStopping: false } }
    const soon = press(next, [ctrl("c")], 10_000 + settleMs - 1)
    assert.deepStrictEqual(soon[1], [{ _tag: "Quit", code: 130 }])
    const late = press(next, [ctrl("c")], 10_000 + settleMs)
    assert.deepStrictEqual(late[1], [{ _tag: "Interrupt", turn: "8" }])
  })

  it("Ctrl-C right after Enter interrupts the turn that is about to be reported", () => {
    const [, actions] = press(initialState, [...text("go"), named("return"), ctrl("c")])
    assert.deepStrictEqual(actions, [{ _tag: "Send", text: "go" }, { _tag: "Interrupt" }])
  })

  it("Ctrl-C without a turn deletes the line, then asks, then ends the chat", () => {
    const [typed] = press(initialState, text("abc"))
    const [empty, none] = press(typed, [ctrl("c")])
    assert.deepStrictEqual([empty.line.text, none], ["", []])
    const [leaving] = press(empty, [ctrl("c")])
    assert.isTrue(leaving.isLeaving)
    assert.deepStrictEqual(press(leaving, [ctrl("c")])[1], [{ _tag: "Quit", code: 0 }])
    assert.isFalse(press(leaving, text("a"))[0].isLeaving)
  })

  it("a key answers the question that is shown", () => {
    const asked = { ...running, questions: [question] }
    for (const [key, decision] of [
      ["y", "approved"],
      ["a", "approved_for_session"],
      ["n", "denied"],
      ["escape", "abort"],
    ] as const) {
      // As `node:readline` reports them.
      const pressed = { name: key, sequence: key, meta: key === "escape" }
      const [state, [action]] = press(asked, [pressed])
      assert.deepStrictEqual(state.questions, [])
      assert.strictEqual(action?._tag === "Answer" ? action.answer.decision : undefined, decision)
    }
    assert.deepStrictEqual(press(asked, text("x"))[1], [])
  })

  it("a key that was meant for the line answers nothing", () => {
    const asked = { ...running, questions: [question] }
    const [early, none] = press(asked, text("y"), settleMs - 1)
    assert.deepStrictEqual([early.line.text, none], ["y", []])
    const [word, nothing] = press(asked, text("lazy"), 10_000)
    assert.deepStrictEqual([word.line.text, nothing], ["lazy", []])
  })

  it("a letter belongs to what is typed, however long ago, and Alt with it answers", () => {
    const [word] = press({ ...running, questions: [question] }, text("wh"))
    const later = 10_000 + 60 * settleMs
    const [typed, none] = press(word, text("y"), later)
    assert.deepStrictEqual([typed.line.text, none], ["why", []])
    for (const key of [
      { name: "y", sequence: "\u001by", meta: true },
      { name: "escape", sequence: "\u001b", meta: true },
    ]) {
      const [state, [action]] = press(word, [key], later)
      assert.deepStrictEqual([action?._tag, state.line.text], ["Answer", "wh"])
    }
    const pasting = [named("paste-start"), ...text("y"), named("paste-end")]
    const [after, nothing] = press({ ...running, questions: [question] }, pasting, later)
    assert.deepStrictEqual([after.line.text, nothing], ["y", []])
  })

  it("Ctrl-C after an interrupted turn ends the chat, unless something else came between", () => {
    const [stopping] = press(running, [ctrl("c")])
    const ended = { ...stopping, turn: undefined }
    assert.deepStrictEqual(press(ended, [ctrl("c")])[1], [{ _tag: "Quit", code: 0 }])
    assert.deepStrictEqual(press(ended, [...text("a"), ctrl("c")])[1], [])
  })

  it("a pasted text is typed with its line feeds, and not sent", () => {
    const pasted = [{ name: "return", sequence: "\r" }, ...text("b")]
    const keys = [named("paste-start"), ...text("a"), ...pasted, named("paste-end")]
    const [state, actions] = press(initialState, keys)
    assert.deepStrictEqual([state.line.text, actions], ["a\nb", []])
  })

  it("a pasted text keeps its tabs and its indentation", () => {
    const keys = [{ name: "tab", sequence: "\t" }, ...text("a"), named("return")]
    const pasted = [named("paste-start"), ...keys.slice(0, 2), named("paste-end"), named("return")]
    assert.deepStrictEqual(press(initialState, pasted)[1], [{ _tag: "Send", text: "\ta" }])
    assert.deepStrictEqual(press(initialState, keys)[1], [{ _tag: "Send", text: "a" }])
  })

  it("a line with a slash is a command, and a path is a message", () => {
    const commandOf = (line: string) => press(initialState, [...text(line), named("return")])[1][0]
    assert.deepInclude(commandOf("/model gpt-5"), {
      command: { _tag: "Slash", name: "model", argument: "gpt-5" },
    })
    assert.deepInclude(commandOf("/hlep"), {
      command: {
        _tag: "Refused",
        message: "unknown command /hlep, did you mean /help?; /help lists the commands",
      },
    })
    assert.deepInclude(commandOf("/Quit"), {
      command: { _tag: "Slash", name: "quit", argument: "" },
    })
    assert.deepInclude(commandOf("/"), {
      command: { _tag: "Refused", message: "unknown command /; /help lists the commands" },
    })
    assert.strictEqual(commandOf("/etc/hosts is what?")?._tag, "Send")
  })

  it("edits by characters, words and lines", () => {
    const edited = (keys: ReadonlyArray<Key>) =>
      press(initialState, [...text("one två👍🏽"), ...keys])[0].line
    assert.strictEqual(edited([named("backspace")]).text, "one två")
    assert.strictEqual(edited([ctrl("w")]).text, "one ")
    assert.strictEqual(edited([named("home"), named("delete")]).text, "ne två👍🏽")
    assert.strictEqual(
      edited([ctrl("a"), { name: "f", meta: true, sequence: "" }, ctrl("k")]).text,
      "one",
    )
    assert.strictEqual(edited([ctrl("u")]).text, "")
  })
})
