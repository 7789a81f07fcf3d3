/** Who is compared: processes with the same two tools, each in the way its makers show. */
import * as Effect from "effect/Effect"
import * as LineProcess from "../LineProcess.ts"
import * as Wire from "../Wire.ts"

export interface Contender {
  readonly command: LineProcess.Command
  /** Its share of the work: one that is ten times slower shows the same in a tenth. */
  readonly share: number
}

export interface Contenders<A> {
  readonly own: A
  readonly sdk: A
  readonly effect: A
}

const text = "x".repeat(32)

/** Of the tool `echo`. */
export const echo = (id: number): string => Wire.toolCall(id, "echo", { text })

/** The same, saying who asks. */
export const statelessEcho = (id: number): string =>
  Wire.toolCall(id, "echo", { text }, Wire.saidWithout)

/** Starts it, initialized; what its tool says is looked at once. */
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

/** All three, one after the other. */
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

/** Many rounds in turn, so that a busy moment of the machine hits all of them. */
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

export const map = <A, B>({ own, sdk, effect }: Contenders<A>, f: (a: A) => B): Contenders<B> => ({
  own: f(own),
  sdk: f(sdk),
  effect: f(effect),
})

/** `official SDK 1, Effect 2`. */
export const beside = ({ sdk, effect }: Contenders<string>): string =>
  `official SDK ${sdk}, Effect ${effect}`
