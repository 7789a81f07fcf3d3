/**
 * The prompts of a directory in a registry, brought up to date when somebody asks: what changed is read again, what is
 * bad is left out and told to the log once. Bounded in number and size.
 */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { Features } from "./Features.ts"
import { type Prompt, prompt } from "./Prompt.ts"
import type { PromptFile, PromptFiles } from "./PromptFiles.ts"
import { expand, parse, type PromptText } from "./PromptText.ts"

const maxFiles = 256
/** Of one file, in bytes. */
const maxSize = 256 * 1024
/** Of one prompt with its arguments, in UTF-16 code units. */
const maxLength = 1024 * 1024

const tooLong = () =>
  new JsonRpcError({
    code: ErrorCode.invalidParams,
    message: `the prompt with its arguments is longer than ${maxLength} characters`,
  })

const promptOf = (name: string, { arguments: args, body, description }: PromptText): Prompt =>
  prompt({
    name,
    ...(description === undefined ? {} : { description }),
    arguments: args,
    run: (given) =>
      Effect.suspend(() => {
        const text = expand(body, given)
        return text.length > maxLength ? Effect.fail(tooLong()) : Effect.succeed(text)
      }),
  })

const stampOf = ({ modifiedMs, size }: PromptFile) => `${size} ${modifiedMs}`

/** Brings the registry up to date. Never fails: what cannot be read is told to the log. */
export const make = (files: PromptFiles, features: Features): Effect.Effect<void> => {
  /** Of each file that was looked at, good or bad. */
  const stamps = new Map<string, string>()
  const one = Semaphore.makeUnsafe(1)
  let troubled: string | undefined

  const warn = (name: string, reason: string) =>
    Effect.logWarning(`prompt file ${name}.md left out: ${reason}`)

  const load = (file: PromptFile): Effect.Effect<void> =>
    Effect.gen(function* () {
      const { name, size } = file
      stamps.set(name, stampOf(file))
      yield* features.removePrompt(name)
      if (size > maxSize) return yield* warn(name, `${size} bytes, the limit is ${maxSize}`)
      const text = parse(yield* files.read(name, maxSize))
      if (text._tag === "Failure") return yield* warn(name, text.failure)
      yield* features.addPrompt(promptOf(name, text.success))
    }).pipe(
      Effect.catchTags({
        PromptFileError: ({ message }) => warn(file.name, message),
        FeatureRefused: ({ reason }) => warn(file.name, reason),
      }),
    )

  const forget = (name: string) => {
    stamps.delete(name)
    return features.removePrompt(name)
  }

  const refresh = Effect.gen(function* () {
    const found = (yield* files.list).toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const taken = found.slice(0, maxFiles)
    const names = new Set(taken.map(({ name }) => name))
    for (const name of Array.from(stamps.keys())) if (!names.has(name)) yield* forget(name)
    for (const file of taken) if (stamps.get(file.name) !== stampOf(file)) yield* load(file)
    return found.length > maxFiles
      ? `${found.length} prompt files, of which the first ${maxFiles} are taken`
      : undefined
  }).pipe(
    Effect.catch(({ message }) => Effect.succeed(`prompts not read: ${message}`)),
    Effect.flatMap((trouble) => {
      // The same trouble at every look would fill the log.
      const news = trouble !== troubled
      troubled = trouble
      return trouble !== undefined && news ? Effect.logWarning(trouble) : Effect.void
    }),
  )
  return one.withPermit(refresh)
}
