/**
 * The terminal of a chat as an effect: keys and signals in, text out. While its scope is open the terminal gives single keys
 * (raw mode) and marks what is pasted; both are undone when the scope closes, however it closes, and when the process ends.
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { emitKeypressEvents } from "node:readline"
import type { Input } from "./Input.ts"
import type { Key } from "./LineEditor.ts"

/** What a session needs of a terminal. */
export interface ChatTerminal {
  readonly size: () => { readonly columns: number; readonly rows: number }
  readonly write: (text: string) => void
  /** Called after the keys of one input were handled: the next ones may come. */
  readonly resume: () => void
}

const stopCodes = { SIGTERM: 143, SIGHUP: 129 } as const

const pasteMarks = { on: "\u001b[?2004h", off: "\u001b[?2004l" }

/** Gathers the keys of one chunk, and pauses stdin until they were handled: none is lost, and memory is bounded. */
const readKeys = (queue: Queue.Queue<Input>) => {
  const { stdin } = process
  let keys: Array<Key> = []
  const flush = () => {
    const input: Input = { _tag: "Keys", keys }
    keys = []
    stdin.pause()
    Queue.offerUnsafe(queue, input)
  }
  return (_text: string | undefined, key: Key) => {
    if (keys.length === 0) queueMicrotask(flush)
    keys.push(key)
  }
}

/** Listens to the process until the function that it returns is called. */
const listen = (queue: Queue.Queue<Input>): (() => void) => {
  const { stdin, stdout } = process
  const stop = (code: number) => () => void Queue.offerUnsafe(queue, { _tag: "Stop", code })
  const onKey = readKeys(queue)
  const onEnd = stop(0)
  const onResize = () => void Queue.offerUnsafe(queue, { _tag: "Resized" })
  const key: Key = { name: "c", ctrl: true, sequence: "\u0003" }
  const onInterrupt = () => void Queue.offerUnsafe(queue, { _tag: "Keys", keys: [key] })
  const signals = [
    ["SIGINT", onInterrupt] as const,
    ...Object.entries(stopCodes).map(([signal, code]) => [signal, stop(code)] as const),
  ]
  emitKeypressEvents(stdin)
  stdin.on("keypress", onKey).once("end", onEnd)
  stdout.on("resize", onResize)
  for (const [signal, listener] of signals) process.on(signal, listener)
  return () => {
    stdin.off("keypress", onKey).off("end", onEnd)
    stdout.off("resize", onResize)
    for (const [signal, listener] of signals) process.off(signal, listener)
  }
}

/** Takes the terminal over until the scope closes. */
export const make = (
  queue: Queue.Queue<Input>,
): Effect.Effect<ChatTerminal, never, Scope.Scope> => {
  const { stdin, stdout } = process
  const open = Effect.sync(() => {
    const restore = () => {
      stdin.setRawMode(false)
      stdout.write(pasteMarks.off)
    }
    // The scope does not close when the process ends at once, as after an uncaught error.
    process.once("exit", restore)
    stdin.setRawMode(true)
    stdout.write(pasteMarks.on)
    const unlisten = listen(queue)
    stdin.resume()
    return {
      restore,
      size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
      write: (text: string) => void stdout.write(text),
      resume: () => void stdin.resume(),
      unlisten,
    }
  })
  return Effect.acquireRelease(open, ({ restore, unlisten }) =>
    Effect.sync(() => {
      unlisten()
      process.off("exit", restore)
      restore()
      stdin.pause()
    }),
  )
}
