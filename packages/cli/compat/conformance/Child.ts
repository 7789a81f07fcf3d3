/**
 * A stdio server as a child process of the bridge. The requests of many HTTP clients share its pipe; each gets an id
 * that is unique on the pipe, so that equal ids of different clients never conflict.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import type { ServerCommand } from "../Driver.ts"

type Id = string | number

/** A message in either direction, typed loosely: only the referee checks whether it is valid. */
export interface Message {
  readonly jsonrpc: "2.0"
  readonly id?: Id | null
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string }
}

type Meta = Readonly<Record<string, unknown>> | undefined

/** A client's request without a response so far. */
interface Exchange {
  readonly id: Id
  readonly method: string
  readonly progressToken: unknown
  /** Receives a notification or server request that belongs to this request. */
  readonly event: (message: Message) => void
  readonly answer: (message: Message) => void
}

export interface Child {
  /** Sends a request under a new id of the pipe and returns that id. */
  readonly open: (request: Message, exchange: Exchange) => number
  /** Sends a notification or response; only the request id in a cancellation is changed. */
  readonly send: (message: Message) => void
  /** Cancels a request. Does nothing if its response has already arrived. */
  readonly withdraw: (pipeId: number, meta: Meta) => void
  /** Receives messages that belong to no open request; undefined if they are dropped. */
  listener: ((message: Message) => void) | undefined
  /** Ends the process and resolves when it has exited. */
  readonly stop: () => Promise<void>
  /** The last part of what the process wrote to stderr. */
  readonly complaints: () => string
}

const withdrawal = "notifications/cancelled"
const subscriptionKey = "io.modelcontextprotocol/subscriptionId"

export const metaOf = (params: Message["params"]): Meta => params?.["_meta"] as Meta

const renamed = (holder: Readonly<Record<string, unknown>>, id: Id) => ({
  ...holder,
  _meta: { ...metaOf(holder), [subscriptionKey]: id },
})

const onLines = (stream: NodeJS.ReadableStream, onLine: (line: string) => void): void => {
  let rest = ""
  stream.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) if (line !== "") onLine(line)
  })
}

const launch = ({ command, args, env }: ServerCommand): ChildProcessWithoutNullStreams => {
  const process_ = spawn(command, args, { env, stdio: ["pipe", "pipe", "pipe"] })
  // The process may exit before it has read everything; its requests then stay open, which the referee reports.
  process_.stdin.on("error", () => {})
  return process_
}

export const start = (command: ServerCommand): Child => {
  const process_ = launch(command)
  const gone = new Promise<void>((resolve) => {
    process_.once("close", () => resolve())
  })
  const open = new Map<unknown, Exchange>()
  let lastId = 0
  let stderr = ""
  process_.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-4000)
  })

  const onAnswer = (message: Message) => {
    const exchange = open.get(message.id)
    if (exchange === undefined) return
    open.delete(message.id)
    const { result } = message
    const isOfSubscription = metaOf(result)?.[subscriptionKey] !== undefined
    exchange.answer({
      ...message,
      id: exchange.id,
      ...(result !== undefined && isOfSubscription ? { result: renamed(result, exchange.id) } : {}),
    })
  }

  /** The request with the message's progress token, else the newest: stdio messages do not name their call. */
  const exchangeOf = ({ params }: Message) => {
    const calls = [...open.values()].filter(({ method }) => method !== "subscriptions/listen")
    const token = params?.["progressToken"]
    return calls.find((one) => token !== undefined && one.progressToken === token) ?? calls.at(-1)
  }

  const onMethod = (message: Message) => {
    const subscription = metaOf(message.params)?.[subscriptionKey]
    if (subscription === undefined) {
      const exchange = exchangeOf(message)
      if (exchange === undefined) child.listener?.(message)
      else exchange.event(message)
      return
    }
    const exchange = open.get(subscription)
    exchange?.event({ ...message, params: renamed(message.params ?? {}, exchange.id) })
  }

  onLines(process_.stdout, (line) => {
    const message = JSON.parse(line) as Message
    if (message.method === undefined) onAnswer(message)
    else onMethod(message)
  })

  const write = (message: Message) => {
    process_.stdin.write(`${JSON.stringify(message)}\n`)
  }

  const child: Child = {
    open: (request, exchange) => {
      const id = ++lastId
      open.set(id, exchange)
      write({ ...request, id })
      return id
    },
    send: (message) => {
      const requestId = message.params?.["requestId"]
      const known = [...open].find(([, { id }]) => id === requestId)
      const isWithdrawal = message.method === withdrawal && known !== undefined
      write(
        isWithdrawal ? { ...message, params: { ...message.params, requestId: known[0] } } : message,
      )
    },
    withdraw: (pipeId, meta) => {
      if (!open.delete(pipeId)) return
      const params = { requestId: pipeId, _meta: meta }
      write({ jsonrpc: "2.0", method: withdrawal, params })
    },
    listener: undefined,
    stop: () => {
      process_.kill("SIGKILL")
      return gone
    },
    complaints: () => stderr,
  }
  return child
}
