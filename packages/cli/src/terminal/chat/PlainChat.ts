/**
 * A chat without a terminal: each line of stdin is a message, and while a question is pending, its answer. Whole items are
 * printed on stdout, without colours and escape sequences. Ends with stdin; Ctrl-C interrupts the turn, then ends it.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { Listener } from "@colloquy/core/listeners/Listener"
import type { ConversationsView } from "@colloquy/server/ConversationsView"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { createInterface } from "node:readline"
import { plain } from "../../demo/Style.ts"
import { CommandFailed } from "../CommandFailed.ts"
import { print } from "../Output.ts"
import type { TextOptions } from "../sessions/SessionText.ts"
import type { ChatHistory } from "./ChatHistory.ts"
import { ChatView } from "./ChatView.ts"
import { slashOf } from "./SlashCommands.ts"
import { runSlash } from "./RunSlash.ts"

const options: TextOptions = { columns: 80, style: plain }

/** The lines of stdin, one at a time; undefined after the last one. */
const readLines = Effect.acquireRelease(
  Effect.sync(() => {
    const lines = createInterface({ input: process.stdin })
    const iterator = lines[Symbol.asyncIterator]()
    return {
      lines,
      next: Effect.promise(async (): Promise<string | undefined> => (await iterator.next()).value),
    }
  }),
  ({ lines }) => Effect.sync(() => lines.close()),
)

const onInterrupt = (run: () => void) =>
  Effect.acquireRelease(
    Effect.sync(() => void process.on("SIGINT", run)),
    () => Effect.sync(() => void process.off("SIGINT", run)),
  )

/** See the header. */
export class PlainChat {
  readonly view = new ChatView()
  readonly options = options
  conversation: Conversation
  hasSent = false
  private listener: Listener | undefined
  private exitCode: number | undefined
  private readonly conversations: ConversationsView["Service"]
  private readonly history: ChatHistory
  private pending: Array<string> = []

  constructor(
    conversations: ConversationsView["Service"],
    conversation: Conversation,
    history: ChatHistory,
  ) {
    this.conversations = conversations
    this.conversation = conversation
    this.history = history
  }

  readonly show = (rows: ReadonlyArray<string>): void => void this.pending.push(...rows)
  readonly quit = (code: number): void => {
    this.exitCode ??= code
  }

  /** Goes on with another conversation. */
  readonly change = Effect.fnUntraced(function* (this: PlainChat, conversation: Conversation) {
    this.conversation = conversation
    this.view.change()
    this.listener = undefined
    yield* Effect.void
  })

  /** Runs to the end of stdin. Resolves with the exit code. */
  readonly run = Effect.fnUntraced(function* (this: PlainChat, first: string | undefined) {
    const { next } = yield* readLines
    const fork = Effect.runForkWith(yield* Effect.context())
    yield* onInterrupt(() => {
      if (this.view.state.turn?.isStopping !== false) process.exit(130)
      this.view.state = { ...this.view.state, turn: { ...this.view.state.turn, isStopping: true } }
      fork(Effect.ignore(this.conversation.submit({ type: "interrupt" })))
    })
    let line = first
    for (;;) {
      line ??= yield* next
      if (line === undefined || this.exitCode !== undefined) return this.exitCode ?? 0
      if (line.trim() !== "") yield* this.line(line, next)
      line = undefined
      if (this.exitCode !== undefined) return this.exitCode
    }
  })

  private readonly line = Effect.fnUntraced(function* (
    this: PlainChat,
    text: string,
    next: Effect.Effect<string | undefined>,
  ) {
    const command = slashOf(text)
    const isTurn = command === undefined || (command._tag === "Slash" && command.name === "compact")
    this.listener ??= yield* this.conversation.attach({ from: 0, answers: true })
    if (command === undefined) {
      yield* this.conversation.submit({ type: "user_input", items: [{ type: "text", text }] })
      this.hasSent = true
      yield* this.history.append(this.conversation.id, text)
    } else {
      yield* Effect.catch(runSlash(this, this.conversations, command), (error) =>
        Effect.sync(() => this.show([`  ! ${error.message}`])),
      )
      yield* this.flush
    }
    if (isTurn) yield* this.follow(this.listener, next)
  })

  /** Prints the turn to its end. */
  private readonly follow = Effect.fnUntraced(function* (
    this: PlainChat,
    listener: Listener,
    next: Effect.Effect<string | undefined>,
  ) {
    for (let hasStarted = false; ;) {
      const deliveries = yield* Effect.mapError(
        listener.take,
        () => new CommandFailed({ message: "the conversation has ended" }),
      )
      const nowMs = yield* Clock.currentTimeMillis
      for (const one of deliveries) {
        this.show(this.view.delivered(one, options, nowMs))
        hasStarted ||= this.view.state.turn !== undefined
      }
      yield* this.flush
      if (hasStarted && this.view.state.turn === undefined) return
      yield* this.answer(next)
    }
  })

  /** Asks the questions that are pending. Without a line they are denied. */
  private readonly answer = Effect.fnUntraced(function* (
    this: PlainChat,
    next: Effect.Effect<string | undefined>,
  ) {
    for (let [question] = this.view.state.questions; question !== undefined;) {
      yield* print([`  ${question.hint}`])
      const word = ((yield* next) ?? "n").trim().toLowerCase()
      const { answers } = question
      const answer = answers[word[0] ?? "n"] ?? answers["n"]
      if (answer === undefined) return
      yield* this.conversation.submit(question.opOf(answer))
      this.show(this.view.answer(question, answer.text, options))
      const rest = this.view.state.questions.slice(1)
      this.view.state = { ...this.view.state, questions: rest }
      ;[question] = rest
    }
    yield* this.flush
  })

  private readonly flush = Effect.suspend(() => {
    const rows = this.pending
    this.pending = []
    return rows.length === 0 ? Effect.void : print(rows)
  })
}
