/**
 * A chat without a terminal of its own: each line of stdin is a message, and while a question is pending, its answer. Whole
 * items are printed on stdout, without colours and escape sequences. Ends with stdin; Ctrl-C interrupts the turn, and a
 * second one ends the chat.
 *
 *     lines, deliveries, signals ──▶ queue ──▶ waiting lines ──one at a time──▶ message, command or answer
 *
 * On a terminal that cannot be drawn on (`TERM=dumb`) a line that was typed before the question was printed is a message: it
 * answers nothing. What is piped in was written beforehand as a whole; there the next line answers.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConversationsView } from "@colloquy/server/ConversationsView"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FiberHandle from "effect/FiberHandle"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { printable } from "../../../demo/Format.ts"
import { plain } from "../../../demo/Style.ts"
import { CommandFailed } from "../../CommandFailed.ts"
import { print } from "../../Output.ts"
import type { TextOptions } from "../../sessions/SessionText.ts"
import type { ChatHistory } from "../ChatHistory.ts"
import { ChatView } from "../ChatView.ts"
import { deliver } from "../Deliver.ts"
import type { PlainInput } from "./PlainInput.ts"
import * as PlainLines from "./PlainLines.ts"
import { type Question, spokenAnswer } from "../Question.ts"
import { runSlash } from "../RunSlash.ts"
import { slashOf } from "../SlashCommands.ts"

const options: TextOptions = { columns: 80, style: plain }

/** From this number of waiting lines on no more are read. */
const maxWaiting = 64

/** What a plain chat works with. */
export interface PlainParts {
  readonly conversations: ConversationsView["Service"]
  readonly conversation: Conversation
  readonly history: ChatHistory
  /** True where a person types the lines. */
  readonly isTyped: boolean
}

/** See the header. */
export class PlainChat {
  readonly view = new ChatView()
  readonly options = options
  conversation: Conversation
  hasSent = false
  private exitCode: number | undefined
  private hasEnded = false
  /** True from the submission of a message until its turn has ended. */
  private isBusy = false
  private isInterrupted = false
  private pending: Array<string> = []
  /** Lines that were read and not handled, oldest first. */
  private waiting: Array<string> = []
  /** The question that was printed last. */
  private asked: Question | undefined
  private readonly parts: PlainParts
  private readonly queue: Queue.Queue<PlainInput>
  private readonly listening: FiberHandle.FiberHandle

  constructor(
    parts: PlainParts,
    queue: Queue.Queue<PlainInput>,
    listening: FiberHandle.FiberHandle,
  ) {
    this.parts = parts
    this.conversation = parts.conversation
    this.queue = queue
    this.listening = listening
  }

  readonly show = (rows: ReadonlyArray<string>): void => {
    for (const row of rows) this.pending.push(row)
  }
  readonly quit = (code: number): void => {
    this.exitCode ??= code
  }

  /** Goes on with another conversation, of which only new events are shown. */
  readonly change = (conversation: Conversation): Effect.Effect<void> => {
    this.conversation = conversation
    this.view.change()
    return this.listen({})
  }

  /** Runs to the end of stdin. Resolves with the exit code. */
  readonly run: (first?: string) => Effect.Effect<number, CommandFailed, Scope.Scope> =
    Effect.fnUntraced(
      function* (this: PlainChat, first?: string) {
        if (first !== undefined) this.waiting.push(first)
        yield* this.listen({ from: 0 })
        const lines = yield* PlainLines.make(this.queue)
        while (this.exitCode === undefined) {
          yield* this.step
          yield* this.flush
          if (this.exitCode !== undefined) break
          if (this.waiting.length < maxWaiting) lines.resume()
          else lines.pause()
          for (const input of yield* Queue.takeAll(this.queue)) yield* this.handle(input)
        }
        // Lines of a pipe are another program's, which has them still.
        if (this.parts.isTyped)
          this.show(this.waiting.map((text) => `  ! not sent: ${printable(text)}`))
        yield* this.flush
        return this.exitCode
      },
      (effect) =>
        Effect.mapError(effect, (error) =>
          error instanceof CommandFailed
            ? error
            : new CommandFailed({
                message: "message" in error && error.message !== "" ? error.message : error._tag,
              }),
        ),
    )

  private listen(from: { readonly from?: number }): Effect.Effect<void> {
    const { conversation } = this
    const run = deliver(conversation, from, this.queue)
    return Effect.asVoid(FiberHandle.run(this.listening, run, { startImmediately: true }))
  }

  private readonly handle = Effect.fnUntraced(function* (this: PlainChat, input: PlainInput) {
    switch (input._tag) {
      case "Line":
        return this.isAnswer() ? yield* this.answer(input.text) : void this.waiting.push(input.text)
      case "TooLong":
        return yield* new CommandFailed({
          message: `stdin: expected lines of at most ${input.maxLength} characters`,
        })
      case "End":
        this.hasEnded = true
        return
      case "Stop":
        return this.quit(input.code)
      case "Interrupt":
        if (!this.isBusy || this.isInterrupted) return this.quit(130)
        this.isInterrupted = true
        return yield* this.conversation.submit({ type: "interrupt" })
      case "Ended":
        if (input.of !== this.conversation.id) return
        return yield* new CommandFailed({ message: `the conversation has ended: ${input.reason}` })
      case "Delivered": {
        if (input.of !== this.conversation.id) return
        const nowMs = yield* Clock.currentTimeMillis
        for (const one of input.deliveries) {
          const had = this.view.state.turn
          this.show(this.view.delivered(one, options, nowMs))
          if (had !== undefined && this.view.state.turn === undefined) this.isBusy = false
        }
        return input.handled()
      }
    }
  })

  /** True where a line that comes now answers the question: it was printed before. */
  private isAnswer(): boolean {
    return this.parts.isTyped && this.asked !== undefined && this.asked === this.question
  }

  private get question(): Question | undefined {
    return this.view.state.questions[0]
  }

  /** Handles what waits until something has to come first: an event or a line. */
  private readonly step = Effect.suspend(() => this.next())

  private readonly next = Effect.fnUntraced(function* (this: PlainChat) {
    while (this.exitCode === undefined && this.view.isSynced) {
      const { question } = this
      if (question !== undefined) {
        if (this.asked !== question) this.show([`  ${question.hint}`])
        this.asked = question
        const line = this.parts.isTyped ? undefined : this.waiting.shift()
        if (line === undefined && !this.hasEnded) return
        yield* this.answer(line ?? "no")
        continue
      }
      if (this.isBusy) return
      const line = this.waiting.shift()
      if (line === undefined) return this.hasEnded ? this.quit(0) : undefined
      if (line.trim() !== "") yield* this.line(line)
    }
  })

  private readonly line = Effect.fnUntraced(function* (this: PlainChat, text: string) {
    const command = slashOf(text)
    this.isInterrupted = false
    if (command === undefined) {
      this.isBusy = true
      yield* this.conversation.submit({ type: "user_input", items: [{ type: "text", text }] })
      this.hasSent = true
      return yield* this.parts.history.append(this.conversation.id, text)
    }
    const receipt = yield* Effect.catch(
      runSlash(this, this.parts.conversations, command),
      (error) => Effect.sync(() => this.show([`  ! ${error.message}`])),
    )
    this.isBusy = typeof receipt === "object"
  })

  /** Answers the question that is shown. What is no answer denies it. */
  private readonly answer = Effect.fnUntraced(function* (this: PlainChat, line: string) {
    const { question } = this
    if (question === undefined) return
    const { answer, isKnown } = spokenAnswer(question, line)
    yield* this.conversation.submit(question.opOf(answer))
    this.show(this.view.answer(question, answer.text, options))
    if (!isKnown) this.show(["  ! that was none of the answers, so it is no"])
    const { state } = this.view
    this.view.state = { ...state, questions: state.questions.filter((one) => one !== question) }
  })

  private readonly flush = Effect.suspend(() => {
    const rows = this.pending
    this.pending = []
    return rows.length === 0 ? Effect.void : print(rows)
  })
}
