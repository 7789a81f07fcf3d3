/**
 * The text of a prompt file: an optional front matter with `description` and `argument-hint`, then the body, with the
 * placeholders `$1` to `$9`, `$ARGUMENTS` and `$NAME` for arguments and `$$` for a dollar sign. Pure.
 */
import * as Result from "effect/Result"

/** A parsed prompt file. */
export interface PromptText {
  readonly description?: string
  /** The text after the front matter, with its placeholders. */
  readonly body: string
  /** The numbered arguments first, then `ARGUMENTS`, then the named ones in the order of the text. */
  readonly arguments: ReadonlyArray<PlaceholderArgument>
}

interface PlaceholderArgument {
  /** `1` to `9`, `ARGUMENTS`, or the name. */
  readonly name: string
  readonly description?: string
  /** True for named arguments. The numbered ones and `ARGUMENTS` are optional. */
  readonly required: boolean
}

const placeholder = /\$(?:(\$)|(ARGUMENTS)(?![A-Z0-9_])|([1-9])(?!\d)|([A-Z][A-Z0-9_]*))/g

const all = "ARGUMENTS"

/** More than a person would enter. */
const maxArguments = 32

const unquoted = (value: string): string => /^(["'])(.*)\1$/.exec(value)?.[2] ?? value

const key = /^[A-Za-z][\w-]*$/

/** One `key: value` per line; other lines are ignored. */
const matterOf = (lines: ReadonlyArray<string>): ReadonlyMap<string, string> => {
  const values = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(":")
    const name = line.slice(0, Math.max(0, colon)).trimEnd()
    if (key.test(name)) values.set(name, unquoted(line.slice(colon + 1).trim()))
  }
  return values
}

/** Longest hint that is read, in UTF-16 code units; longer ones could not be shown to a person. */
const maxHintLength = 4096

/** Splits `[file] [how many]`: one word, or one text in brackets, per numbered argument. */
const hintsOf = (hint: string | undefined): ReadonlyArray<string> =>
  (hint ?? "").slice(0, maxHintLength).match(/\[[^\]]*\]|<[^>]*>|\S+/g) ?? []

const argumentsOf = (
  body: string,
  hint: string | undefined,
): ReadonlyArray<PlaceholderArgument> => {
  const found = new Set<string>()
  for (const [, dollar, rest, number, name] of body.matchAll(placeholder)) {
    if (dollar === undefined) found.add(rest ?? number ?? name ?? "")
  }
  const hints = hintsOf(hint)
  const numbers = [...found].filter((name) => /^[1-9]$/.test(name)).toSorted()
  const names = [...found].filter((name) => name !== all && !numbers.includes(name))
  const described = (name: string, description: string | undefined, required: boolean) => ({
    name,
    required,
    ...(description === undefined ? {} : { description }),
  })
  return [
    ...numbers.map((name) => described(name, hints[Number(name) - 1], false)),
    ...(found.has(all) ? [described(all, hint, false)] : []),
    ...names.map((name) => described(name, undefined, true)),
  ]
}

/** The parsed file, or the reason why it cannot be used. */
export const parse = (text: string): Result.Result<PromptText, string> => {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/)
  const end = lines[0] === "---" ? lines.indexOf("---", 1) : 0
  if (end < 0) return Result.fail("the front matter in line 1 is not closed")
  const matter = matterOf(lines.slice(1, Math.max(1, end)))
  const body = lines.slice(end === 0 ? 0 : end + 1).join("\n")
  if (body.trim() === "") return Result.fail("the file is empty")
  if (body.includes("\0")) return Result.fail("the file is not text")
  const args = argumentsOf(body, matter.get("argument-hint"))
  if (args.length > maxArguments) return Result.fail(`more than ${maxArguments} arguments`)
  const description = matter.get("description")
  return Result.succeed({
    body,
    arguments: args,
    ...(description === undefined || description === "" ? {} : { description }),
  })
}

/**
 * The body with the arguments filled in. When only the numbered arguments or only `ARGUMENTS` are given, each is derived
 * from the other.
 */
export const expand = (body: string, args: Readonly<Record<string, string>>): string => {
  const numbered = Array.from({ length: 9 }, (_, i) => args[String(i + 1)])
  const words = args[all]?.trim().split(/\s+/) ?? []
  const joined = numbered.filter((one) => one !== undefined && one !== "").join(" ")
  return body.replaceAll(
    placeholder,
    (whole: string, dollar?: string, rest?: string, number?: string, name?: string) => {
      if (dollar !== undefined) return "$"
      if (rest !== undefined) return args[all] ?? joined
      if (number !== undefined)
        return numbered[Number(number) - 1] ?? words[Number(number) - 1] ?? ""
      return args[name ?? ""] ?? whole
    },
  )
}
