/**
 * Registers the prompts of a directory, and updates them when a client requests prompts: changed files are read again,
 * invalid ones are left out and logged once. Bounded in number and size. Never writes a file.
 */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { Features } from "./Features.ts"
import { type Prompt, prompt } from "./Prompt.ts"
import type { PromptFile, PromptFiles } from "./PromptFiles.ts"
import { expand, parse, type PromptText } from "./PromptText.ts"

/** Most prompt files, more than a person looks through. */
const maxFiles = 256
/** Largest prompt file, in bytes. */
const maxSize = 256 * 1024
/** Longest prompt with its arguments filled in, in UTF-16 code units. */
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

const warn = (name: string, reason: string) =>
  Effect.logWarning(`prompt file ${name}.md left out: ${reason}`)

/** The state of one directory. */
class PromptBook {
  /** Size and time of each file that was read, valid or not. */
  private readonly stamps = new Map<string, string>()
  private readonly files: PromptFiles
  private readonly features: Features
  /** The last problem with the whole directory. */
  private problem: string | undefined

  constructor(files: PromptFiles, features: Features) {
    this.files = files
    this.features = features
  }

  refresh(): Effect.Effect<void> {
    return this.readDirectory().pipe(
      Effect.catchTag("PromptFileError", ({ message }) =>
        Effect.succeed(`prompts not read: ${message}`),
      ),
      Effect.flatMap((problem) => {
        // Logged once, because the same problem occurs at every request.
        const isNew = problem !== this.problem
        this.problem = problem
        return problem !== undefined && isNew ? Effect.logWarning(problem) : Effect.void
      }),
    )
  }

  /** Resolves with a problem that concerns the whole directory, if there is one. */
  private readDirectory() {
    return Effect.gen({ self: this }, function* () {
      const found = (yield* this.files.list).toSorted((a, b) => (a.name < b.name ? -1 : 1))
      const used = found.slice(0, maxFiles)
      const names = new Set(used.map(({ name }) => name))
      for (const name of Array.from(this.stamps.keys())) {
        if (!names.has(name)) yield* this.remove(name)
      }
      for (const file of used) {
        if (this.stamps.get(file.name) !== stampOf(file)) yield* this.load(file)
      }
      return found.length > maxFiles
        ? `${found.length} prompt files, only the first ${maxFiles} are used`
        : undefined
    })
  }

  private load(file: PromptFile): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { name, size } = file
      this.stamps.set(name, stampOf(file))
      yield* this.features.removePrompt(name)
      if (size > maxSize) return yield* warn(name, `${size} bytes, the limit is ${maxSize}`)
      const text = parse(yield* this.files.read(name, maxSize))
      if (text._tag === "Failure") return yield* warn(name, text.failure)
      yield* this.features.addPrompt(promptOf(name, text.success))
    }).pipe(
      Effect.catchTags({
        PromptFileError: ({ message }) => warn(file.name, message),
        FeatureRefused: ({ reason }) => warn(file.name, reason),
      }),
    )
  }

  private remove(name: string) {
    this.stamps.delete(name)
    return this.features.removePrompt(name)
  }
}

/**
 * The effect that updates the registered prompts from the files. Runs once at a time and never fails: files that cannot
 * be read are logged.
 */
export const make = (files: PromptFiles, features: Features): Effect.Effect<void> => {
  const book = new PromptBook(files, features)
  return Semaphore.makeUnsafe(1).withPermit(Effect.suspend(() => book.refresh()))
}
