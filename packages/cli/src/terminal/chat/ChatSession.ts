/**
 * A chat in a terminal: reads the queue of inputs, changes the state, carries out its actions in order, and draws once for
 * all inputs that were there and one piece of what was delivered. A drawing is bounded as well.
 *
 *     keys, size, ticks ──▶ queue ──────────────────────▶ state ──▶ actions ──▶ conversation
 *     deliveries ─────────▶ queue ──▶ backlog ──piece──▶   └─────▶ rows ─────▶ terminal
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { SubmissionId } from "@colloquy/protocol/Ids"
import type { ConversationsView } from "@colloquy/server/ConversationsView"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FiberHandle from "effect/FiberHandle"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { printable } from "../../demo/Format.ts"
import type { Style } from "../../demo/Style.ts"
import type { TextOptions } from "../sessions/SessionText.ts"
import { rowsOf } from "../Width.ts"
import { Backlog } from "./Backlog.ts"
import type { ChatHistory } from "./ChatHistory.ts"
import { ChatScreen } from "./ChatScreen.ts"
import { type Action, onKey } from "./ChatState.ts"
import type { ChatTerminal } from "./ChatTerminal.ts"
import { ChatView } from "./ChatView.ts"
import { deliver, messageOf } from "./Deliver.ts"
import type { Input } from "./Input.ts"
import type { Key } from "./line/Editor.ts"
import { liveRows } from "./LiveRows.ts"
import { joinPasted } from "./line/Paste.ts"
import { runSlash } from "./RunSlash.ts"
import type { Slash } from "./SlashCommands.ts"

/** What a session works with. */
export interface SessionParts {
  readonly conversations: ConversationsView["Service"]
  readonly conversation: Conversation
  readonly terminal: ChatTerminal
  readonly queue: Queue.Queue<Input>
  readonly history: ChatHistory
  readonly style: Style
}

/** Most final rows of one drawing: a terminal takes what is written at its own pace, and keys are not read meanwhile. */
const maxFinalRows = 256

/** Most lines of the output of a command that are shown. */
const maxOutputLines = 12

/** See the header. */
export class ChatSession {
  readonly view = new ChatView()
  /** The conversation now; `/fork` changes it. */
  conversation: Conversation
  /** True once a message was sent. */
  hasSent = false
  /** Messages and commands that wait for the end of a turn, by their submissions. */
  private readonly waiting = new Map<SubmissionId, string>()
  private exitCode: number | undefined
  private final: Array<string> = []
  private readonly backlog = new Backlog()
  private readonly screen = new ChatScreen()
  private readonly parts: SessionParts
  private readonly listening: FiberHandle.FiberHandle

  constructor(parts: SessionParts, listening: FiberHandle.FiberHandle) {
    this.parts = parts
    this.conversation = parts.conversation
    this.listening = listening
  }

  /** Runs until the person ends it. Resolves with the exit code. */
  readonly run: (first: string | undefined) => Effect.Effect<number, never, Scope.Scope> =
    Effect.fnUntraced(function* (this: ChatSession, first: string | undefined) {
      const { queue, terminal } = this.parts
      yield* this.listen({ from: 0 })
      yield* Effect.forkScoped(
        Effect.repeat(
          Effect.sleep("1 second").pipe(Effect.andThen(Queue.offer(queue, { _tag: "Tick" }))),
          Schedule.forever,
        ),
      )
      if (first !== undefined) {
        this.view.state = { ...this.view.state, sent: [first] }
        yield* this.act({ _tag: "Send", text: first })
      }
      yield* this.draw
      while (this.exitCode === undefined) {
        const inputs = yield* this.inputs
        for (const input of inputs) {
          if (input._tag === "Delivered" || input._tag === "Ended") this.backlog.add(input)
          else yield* this.handle(input)
        }
        const piece = this.final.length === 0 ? this.backlog.next() : undefined
        if (piece !== undefined) yield* this.handle(piece)
        // The rest of a pasted text follows at once.
        const isPartial =
          this.view.state.isPasting &&
          piece === undefined &&
          inputs.every(({ _tag }) => _tag === "Keys")
        if (!isPartial) yield* this.draw
      }
      // What else there is to show would hold up the end.
      this.final = []
      // The end of the chat is the end of the conversation in this process: they would be dropped unseen.
      for (const text of yield* this.withdraw) this.notice(`not sent: ${text}`)
      yield* this.draw
      terminal.write(this.screen.erase(terminal.size().columns))
      return this.exitCode
    })

  /** What has come. Waits for it unless there is more to handle or to draw; stdin is read meanwhile. */
  private readonly inputs = Effect.suspend(() =>
    this.backlog.isEmpty && this.final.length === 0
      ? Queue.takeAll(this.parts.queue)
      : Effect.andThen(Effect.yieldNow, Queue.clear(this.parts.queue)),
  )

  /** How rows are written now. */
  get options(): TextOptions {
    const { style, terminal } = this.parts
    // A row that fills the last column would leave the cursor between two rows.
    return { columns: Math.max(20, terminal.size().columns - 1), style, maxOutputLines }
  }

  /** Adds final rows. */
  readonly show = (rows: ReadonlyArray<string>): void => {
    for (const row of rows) this.final.push(row)
  }

  /** Shows the error that a person has to know of. */
  readonly fail = (error: { readonly _tag: string; readonly message?: string }): void =>
    this.notice(messageOf(error))

  /** Goes on with another conversation, of which only new events are shown. */
  readonly change: (conversation: Conversation) => Effect.Effect<void> = Effect.fnUntraced(
    function* (this: ChatSession, conversation: Conversation) {
      this.conversation = conversation
      this.view.change()
      yield* this.listen({})
    },
  )

  /** Ends the chat after this input. */
  readonly quit = (code: number): void => {
    this.exitCode ??= code
  }

  /** Cancels what waits, and resolves with it. */
  private readonly withdraw = Effect.suspend(() => {
    const texts = [...this.waiting.values()]
    const ids = [...this.waiting.keys()]
    this.waiting.clear()
    return Effect.as(
      Effect.forEach(ids, (id) => this.conversation.cancel(id)),
      texts,
    )
  })

  private notice(text: string): void {
    const { columns, style } = this.options
    this.show(rowsOf(`! ${printable(text)}`, columns - 2).map((row) => style.accent(`  ${row}`)))
  }

  /** Delivers what the conversation does, until another one takes its place. */
  private listen(from: { readonly from?: number }): Effect.Effect<void> {
    const { conversation } = this
    const run = deliver(conversation, from, this.parts.queue)
    return Effect.asVoid(FiberHandle.run(this.listening, run, { startImmediately: true }))
  }

  private readonly handle = Effect.fnUntraced(function* (this: ChatSession, input: Input) {
    switch (input._tag) {
      case "Keys":
        yield* this.keys(input.keys)
        return this.parts.terminal.resume()
      case "Delivered": {
        if (input.of !== this.conversation.id) return
        const nowMs = yield* Clock.currentTimeMillis
        for (const one of input.deliveries) {
          if (one._tag === "Event") this.waiting.delete(one.event.id)
          this.show(this.view.delivered(one, this.options, nowMs))
        }
        return input.handled()
      }
      case "Ended":
        if (input.of !== this.conversation.id) return
        return this.notice(`the conversation has ended: ${input.reason}`)
      case "Notice":
        return this.notice(input.line)
      case "Continued":
        return this.screen.forget()
      case "Stop":
        return this.quit(input.code)
      default:
        return
    }
  })

  private readonly keys = Effect.fnUntraced(function* (
    this: ChatSession,
    keys: ReadonlyArray<Key>,
  ) {
    const nowMs = yield* Clock.currentTimeMillis
    for (const key of joinPasted(keys, this.view.state.isPasting)) {
      if (key.name === "up") yield* this.loadOlder()
      const [state, actions] = onKey(this.view.state, key, nowMs)
      this.view.state = state
      for (const action of actions) yield* this.act(action)
    }
  })

  /** Reads one more message of the history if the key up needs it. */
  private readonly loadOlder = Effect.fnUntraced(function* (this: ChatSession) {
    const { entries, index } = this.view.state.history
    if (index + 1 < entries.length) return
    const older = yield* this.parts.history.older
    if (older === undefined) return
    const { history } = this.view.state
    this.view.state = { ...this.view.state, history: { ...history, entries: [...entries, older] } }
  })

  private readonly act = Effect.fnUntraced(
    function* (this: ChatSession, action: Action) {
      switch (action._tag) {
        case "Send":
          return yield* this.send(action.text)
        case "Interrupt": {
          // Only the turn: what waits for its end goes on, as the person expects of what was typed after it.
          const id = action.turn ?? (yield* this.conversation.state).turn?.id
          return id === undefined ? undefined : yield* this.conversation.cancel(id)
        }
        case "Answer": {
          const { answer, question } = action
          yield* this.conversation.submit(question.opOf(answer))
          return this.show(this.view.answer(question, answer.text, this.options))
        }
        case "Command":
          return yield* this.command(action.command)
        case "Clear":
          return this.parts.terminal.write(this.screen.clear())
        case "Suspend": {
          const { terminal } = this.parts
          terminal.write(this.screen.erase(terminal.size().columns))
          return yield* terminal.suspend
        }
        case "Quit":
          return this.quit(action.code)
      }
    },
    (effect, _action) => Effect.catch(effect, (error) => Effect.sync(() => this.fail(error))),
  )

  private readonly command = Effect.fnUntraced(function* (this: ChatSession, command: Slash) {
    const receipt = yield* runSlash(this, this.parts.conversations, command)
    if (receipt?.disposition !== "waiting" || command._tag !== "Slash") return
    this.waiting.set(receipt.id, `/${command.name}`)
  })

  /** Sends a message. One that is refused is put back into the line, or shown where something else is typed there. */
  private readonly send = Effect.fnUntraced(function* (this: ChatSession, text: string) {
    const op = { type: "user_input", items: [{ type: "text", text }] } as const
    yield* this.conversation.submit(op).pipe(
      Effect.andThen(({ disposition, id }) =>
        Effect.sync(() => {
          this.hasSent = true
          if (disposition === "waiting") this.waiting.set(id, text)
        }),
      ),
      Effect.andThen(this.parts.history.append(this.conversation.id, text)),
      Effect.onError(() =>
        Effect.sync(() => {
          const { line, sent } = this.view.state
          const isFree = line.text === ""
          this.view.state = {
            ...this.view.state,
            sent: sent.filter((one) => one !== text),
            line: isFree ? { text, cursor: text.length } : line,
          }
          if (!isFree) this.notice(`not sent: ${text}`)
        }),
      ),
    )
  })

  private readonly draw = Effect.suspend(() =>
    Effect.map(Clock.currentTimeMillis, (nowMs) => {
      const { options, view } = this
      const { terminal } = this.parts
      const { columns, rows } = terminal.size()
      const live = liveRows(view.state, view.open(options), {
        ...options,
        maxRows: rows - 1,
        nowMs,
      })
      const final = this.final.splice(0, maxFinalRows)
      terminal.write(this.screen.draw(final, live, columns))
    }),
  )
}
