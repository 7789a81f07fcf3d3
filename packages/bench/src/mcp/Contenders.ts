/** The compared servers: processes with the same two tools, each written as its documentation shows. */
import * as Effect from "effect/Effect"
import * as LineProcess from "../LineProcess.ts"
import * as Wire from "../Wire.ts"

/** One server. */
export interface Contender {
  readonly command: LineProcess.Command
  /** Its share of the work; a slower server gets less work for the same precision. */
  readonly share: number
}

/** One value per server. */
export interface Contenders<A> {
  readonly own: A
  readonly sdk: A
  readonly effect: A
}

const text = "x".repeat(32)

/** A call of the tool `echo`. */
export const echo = (id: number): string => Wire.toolCall(id, "echo", { text })

/** The same in the stateless era. */
export const statelessEcho = (id: number): string =>
  Wire.toolCall(id, "echo", { text }, Wire.saidWithout)

/** Starts a server, initializes the connection and checks the result of its tool once. */
export const ready = Effect.fnUntraced(function* ({ command }: Contender) {
  const process = yield* LineProcess.make(command)
  yield* process.call(Wire.initialize)
  const { chunks } = yield* process.call(`${Wire.initialized}\n${echo(1)}`)
  const answer = Buffer.concat(chunks).toString("utf8")
  if (!answer.includes(text)) {
    throw new Error(`${command.args.join(" ")}: no echo: ${answer.slice(0, 300)}`)
  }
  return process
})

/** Runs an effect for each server, one after the other. */
export const each = <A, B, R>(
  contenders: Contenders<A>,
  f: (contender: A) => Effect.Effect<B, never, R>,
): Effect.Effect<Contenders<B>, never, R> =>
  Effect.gen(function* () {
    const own = yield* f(contenders.own)
    const sdk = yield* f(contenders.sdk)
    const effect = yield* f(contenders.effect)
    return { own, sdk, effect }
  })

/** Alternates the servers in many rounds, so that a busy moment of the machine affects all of them. */
export const rounds = <A, B, R>(
  count: number,
  contenders: Contenders<A>,
  f: (contender: A) => Effect.Effect<B, never, R>,
): Effect.Effect<Contenders<ReadonlyArray<B>>, never, R> =>
  Effect.gen(function* () {
    const own: Array<B> = []
    const sdk: Array<B> = []
    const effect: Array<B> = []
    for (let round = 0; round < count; round++) {
      const one = yield* each(contenders, f)
      own.push(one.own)
      sdk.push(one.sdk)
      effect.push(one.effect)
    }
    return { own, sdk, effect }
  })

/** Applies a function to each value. */
export const map = <A, B>({ own, sdk, effect }: Contenders<A>, f: (a: A) => B): Contenders<B> => ({
  own: f(own),
  sdk: f(sdk),
  effect: f(effect),
})

/** The values of the other servers as text: `official SDK 1, Effect 2`. */
export const beside = ({ sdk, effect }: Contenders<string>): string =>
  `official SDK ${sdk}, Effect ${effect}`
