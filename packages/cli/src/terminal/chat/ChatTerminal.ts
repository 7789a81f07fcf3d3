/**
 * The terminal of a chat as an effect: keys and signals in, text out. While its scope is open the terminal gives single keys
 * (raw mode) and marks what is pasted; both are undone when the scope closes, however it closes, when the process ends, and
 * while it is suspended.
 *
 *     taken --suspend--> given back, SIGTSTP --SIGCONT, or no stop within 200 ms--> taken
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type { EventEmitter } from "node:events"
import { emitKeypressEvents } from "node:readline"
import type { Readable, Writable } from "node:stream"
import * as CallbackOffers from "./CallbackOffers.ts"
import type { Input } from "./Input.ts"
import type { Key } from "./line/Editor.ts"

/** What a session needs of a terminal. */
export interface ChatTerminal {
  readonly size: () => { readonly columns: number; readonly rows: number }
  readonly write: (text: string) => void
  /**
   * Gives the terminal back and stops the process with its group, as Ctrl-Z of a terminal does. Resolves when it goes on and
   * has the terminal again; soon, where the group belongs to no shell that could continue it.
   */
  readonly suspend: Effect.Effect<void>
  /** Called after the keys of one input were handled: the next ones may come. */
  readonly resume: () => void
}

const stopCodes = { SIGTERM: 143, SIGHUP: 129 } as const

/** The process, as far as it is used here. */
export interface TerminalProcess extends EventEmitter {
  readonly stdin: Readable & { readonly setRawMode: (isRaw: boolean) => unknown }
  readonly kill: (pid: number, signal: NodeJS.Signals) => unknown
  readonly stdout: Writable & { readonly columns?: number; readonly rows?: number }
}

const pasteMarks = { on: "\u001b[?2004h", off: "\u001b[?2004l" }

/** How long the system may take to stop the process, and then to report that it goes on. */
const settleTime = Duration.millis(100)

/** Most keys that wait; a chunk of stdin has no more. */
const maxKeys = 64 * 1024

/**
 * Gathers the keys of one chunk, and pauses stdin until they were handled: none is lost. What comes without stdin, an escape
 * whose continuation did not come or a signal, joins the keys that wait.
 */
const readKeys = (
  stdin: Pick<TerminalProcess["stdin"], "pause">,
  queue: Queue.Enqueue<Input>,
  offers: CallbackOffers.CallbackOffers<Input>,
) => {
  let keys: Array<Key> = []
  const offer = Effect.suspend(() => {
    const input: Input = { _tag: "Keys", keys }
    keys = []
    return Queue.offer(queue, input)
  })
  const offerAll = Effect.whileLoop({ while: () => keys.length > 0, body: () => offer, step() {} })
  const flush = () => {
    // They may have joined an offer that waited.
    if (keys.length === 0) return
    stdin.pause()
    offers.run("Keys", offerAll)
  }
  return (key: Key) => {
    if (keys.length === 0) queueMicrotask(flush)
    if (keys.length < maxKeys) keys.push(key)
  }
}

/** Listens to the process until the function that it returns is called. */
const listen = (
  from: TerminalProcess,
  queue: Queue.Enqueue<Input>,
  offers: CallbackOffers.CallbackOffers<Input>,
): (() => void) => {
  const { stdin, stdout } = from
  const stop = (code: number) => () => offers.offer({ _tag: "Stop", code })
  const push = readKeys(stdin, queue, offers)
  const onKey = (_text: string | undefined, key: Key) => push(key)
  const onEnd = stop(0)
  // The window was closed. The signal may come later, or not at all.
  const onGone = stop(stopCodes.SIGHUP)
  const onResize = () => offers.offer({ _tag: "Resized" })
  const onInterrupt = () => push({ name: "c", ctrl: true, sequence: "\u0003" })
  const signals = [
    ["SIGINT", onInterrupt] as const,
    ...Object.entries(stopCodes).map(([signal, code]) => [signal, stop(code)] as const),
  ]
  emitKeypressEvents(stdin)
  stdin.on("keypress", onKey).once("end", onEnd).on("error", onGone)
  stdout.on("resize", onResize)
  // Instead of the listener that ends other commands at once. It stays: there may be more to write.
  stdout.removeAllListeners("error").on("error", onGone)
  for (const [signal, listener] of signals) from.on(signal, listener)
  return () => {
    stdin.off("keypress", onKey).off("end", onEnd).off("error", onGone)
    stdout.off("resize", onResize)
    for (const [signal, listener] of signals) from.off(signal, listener)
  }
}

/** The modes of the terminal. */
class Modes {
  private readonly from: TerminalProcess
  /** Completed when the process goes on; exists while it is suspended by the person. */
  private continued: Deferred.Deferred<void> | undefined
  readonly suspend: Effect.Effect<void>

  constructor(from: TerminalProcess) {
    this.from = from
    this.suspend = Effect.suspend(() => {
      const continued = (this.continued = Deferred.makeUnsafe<void>())
      this.restore()
      from.kill(0, "SIGTSTP")
      // The time goes on while the process is stopped.
      return Effect.sleep(settleTime).pipe(
        Effect.andThen(Effect.timeoutOption(Deferred.await(continued), settleTime)),
        Effect.andThen(
          Effect.sync(() => {
            this.continued = undefined
            this.take()
          }),
        ),
      )
    })
  }

  take(): void {
    const { stdin, stdout } = this.from
    // A shell may have changed the modes, of which `setRawMode` knows nothing.
    stdin.setRawMode(false)
    stdin.setRawMode(true)
    stdout.write(pasteMarks.on)
  }

  readonly restore = (): void => {
    this.from.stdin.setRawMode(false)
    this.from.stdout.write(pasteMarks.off)
  }

  /** The process goes on. True where something else had stopped it. */
  goesOn(): boolean {
    if (this.continued !== undefined) {
      Deferred.doneUnsafe(this.continued, Effect.void)
      return false
    }
    this.take()
    return true
  }
}

/** Takes the terminal over until the scope closes. */
export const make = Effect.fnUntraced(function* (
  queue: Queue.Queue<Input>,
  from: TerminalProcess = process,
): Effect.fn.Return<ChatTerminal, never, Scope.Scope> {
  const { stdin, stdout } = from
  const offers = yield* CallbackOffers.make(queue)
  const modes = new Modes(from)
  const onContinue = () => {
    if (modes.goesOn()) offers.offer({ _tag: "Continued" })
  }
  const open = Effect.sync(() => {
    // The scope does not close when the process ends at once, as after an uncaught error.
    from.once("exit", modes.restore).on("SIGCONT", onContinue)
    modes.take()
    const unlisten = listen(from, queue, offers)
    stdin.resume()
    return unlisten
  })
  yield* Effect.acquireRelease(open, (unlisten) =>
    Effect.sync(() => {
      unlisten()
      from.off("exit", modes.restore).off("SIGCONT", onContinue)
      modes.restore()
      stdin.pause()
    }),
  )
  return {
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    write: (text) => void stdout.write(text),
    suspend: modes.suspend,
    resume: () => void stdin.resume(),
  }
})
