/**
 * What a chat knows, and what each key does: the next state, and the actions that the session carries out in order. Pure.
 *
 *     nothing runs --Enter--> turn --Ctrl-C--> turn that is being interrupted, or was --Ctrl-C--> end of the chat
 *     question --y, a, n, Esc--> answer;  question, something typed --Alt-y, Alt-a, Alt-n, Esc--> answer
 *     nothing runs, nothing typed --Ctrl-C--> hint --Ctrl-C--> end of the chat
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import { browse, emptyHistory, type InputHistory, remember } from "./line/History.ts"
import { edit, emptyLine, insert, type Key, type Line } from "./line/Editor.ts"
import { pastedText } from "./line/Paste.ts"
import { type Answer, type Question, settleMs } from "./Question.ts"
import { type Slash, slashOf } from "./SlashCommands.ts"

/** The turn that runs. */
interface ShownTurn {
  readonly id: SubmissionId
  readonly startedMs: number
  /** True once the person has interrupted it. */
  readonly isStopping: boolean
}

/** See the header. */
export interface ChatState {
  readonly line: Line
  readonly history: InputHistory
  /** True between the marks with which a terminal encloses a pasted text. */
  readonly isPasting: boolean
  readonly turn: ShownTurn | undefined
  /** Messages that were sent and are not part of the conversation yet. */
  readonly sent: ReadonlyArray<string>
  /** Oldest first. */
  readonly questions: ReadonlyArray<Question>
  /** When a key last changed the line, in milliseconds of the clock. */
  readonly typedAtMs: number
  /** True after a Ctrl-C that had nothing to interrupt: the next one ends the chat. */
  readonly isLeaving: boolean
}

/** The state at the begin. */
export const initialState: ChatState = {
  line: emptyLine,
  history: emptyHistory,
  isPasting: false,
  turn: undefined,
  sent: [],
  questions: [],
  typedAtMs: -Infinity,
  isLeaving: false,
}

/** What the session has to do. */
export type Action =
  | { readonly _tag: "Send"; readonly text: string }
  /** `turn`: the one that is shown. Absent: the one that runs and has not been reported yet. */
  | { readonly _tag: "Interrupt"; readonly turn?: SubmissionId }
  | { readonly _tag: "Answer"; readonly question: Question; readonly answer: Answer }
  | { readonly _tag: "Command"; readonly command: Slash }
  | { readonly _tag: "Clear" }
  /** The terminal goes to the shell, until that continues the process. */
  | { readonly _tag: "Suspend" }
  | { readonly _tag: "Quit"; readonly code: number }

/** The next state, and what to do. */
export type Next = readonly [state: ChatState, actions: ReadonlyArray<Action>]

const only = (state: ChatState): Next => [state, []]

/** Ctrl-C. */
const interrupt = (state: ChatState, nowMs: number): Next => {
  if (state.turn !== undefined) {
    // The turn of a message that waited has just begun: the key was meant for the one before it.
    const hasJustBegun = state.isLeaving && nowMs - state.turn.startedMs < settleMs
    return state.turn.isStopping || hasJustBegun
      ? [state, [{ _tag: "Quit", code: 130 }]]
      : [
          { ...state, isLeaving: true, turn: { ...state.turn, isStopping: true } },
          [{ _tag: "Interrupt", turn: state.turn.id }],
        ]
  }
  // A message was sent whose turn has not been reported yet.
  if (state.sent.length > 0 && !state.isLeaving) {
    return [{ ...state, isLeaving: true }, [{ _tag: "Interrupt" }]]
  }
  if (state.line.text !== "") return only({ ...state, line: emptyLine })
  return state.isLeaving
    ? [state, [{ _tag: "Quit", code: 0 }]]
    : only({ ...state, isLeaving: true })
}

/** What is sent of a line: without empty lines before it and white space behind it. Indentation is kept. */
const messageOf = (text: string): string => text.replace(/^(?:[^\S\n]*\n)+/u, "").trimEnd()

/** Enter. */
const enter = (state: ChatState): Next => {
  const text = messageOf(state.line.text)
  if (text === "") return only(state)
  const next = { ...state, line: emptyLine, history: remember(state.history, text) }
  const command = slashOf(text)
  return command === undefined
    ? [{ ...next, sent: [...next.sent, text] }, [{ _tag: "Send", text }]]
    : [next, [{ _tag: "Command", command }]]
}

/**
 * The answer that the key gives to the question that is shown, if any. While something is typed a letter belongs to the line,
 * however long ago the last one was typed: then only Alt with the letter answers.
 */
const answered = (state: ChatState, key: Key, nowMs: number): Next | undefined => {
  const [question, ...rest] = state.questions
  if (question === undefined || nowMs - question.shownAtMs < settleMs) return undefined
  // Somebody who is typing means the line, not the question.
  if (nowMs - state.typedAtMs < settleMs) return undefined
  const name = key.name ?? key.sequence
  // `node:readline` reports Esc as Alt and nothing.
  const isDeliberate = name === "escape" || key.meta === true
  if (key.ctrl === true || (state.line.text !== "" && !isDeliberate)) return undefined
  if (!Object.hasOwn(question.answers, name)) return undefined
  const answer = question.answers[name]
  if (answer === undefined) return undefined
  const next = rest.map((one) => ({ ...one, shownAtMs: nowMs }))
  return [{ ...state, questions: next }, [{ _tag: "Answer", question, answer }]]
}

const moved = (state: ChatState, by: 1 | -1): Next => {
  const found = browse(state.history, state.line, by)
  return only(found === undefined ? state : { ...state, history: found[0], line: found[1] })
}

/** Applies one key. */
export const onKey = (state: ChatState, key: Key, nowMs: number): Next => {
  if (key.name === "paste-start") return only({ ...state, isPasting: true })
  if (key.name === "paste-end") return only({ ...state, isPasting: false })
  if (state.isPasting) {
    const text = pastedText(key.sequence)
    if (text === "") return only(state)
    return only({ ...state, line: insert(state.line, text), typedAtMs: nowMs })
  }
  if (key.ctrl === true && key.name === "c") return interrupt(state, nowMs)
  const kept = state.isLeaving ? { ...state, isLeaving: false } : state
  const answer = answered(kept, key, nowMs)
  if (answer !== undefined) return answer
  // What was typed before the chat took the terminal over has line feeds.
  if ((key.name === "return" || key.name === "enter") && key.meta !== true) return enter(kept)
  if (key.ctrl === true && key.name === "d" && kept.line.text === "") {
    return [kept, [{ _tag: "Quit", code: 0 }]]
  }
  if (key.ctrl === true && key.name === "l") return [kept, [{ _tag: "Clear" }]]
  if (key.ctrl === true && key.name === "z") return [kept, [{ _tag: "Suspend" }]]
  if (key.name === "up") return moved(kept, 1)
  if (key.name === "down") return moved(kept, -1)
  const line = edit(kept.line, key)
  return only(line === undefined ? kept : { ...kept, line, typedAtMs: nowMs })
}
