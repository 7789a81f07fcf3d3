/**
 * The principals besides the user who started the server: `principals.toml` of the state directory, which only that user can
 * read. It has no token, only hashes, and is read again when it has changed. A change that is not valid is logged and has no
 * effect; without the file there are no principals.
 *
 *     [default]                       # for principals without a table of their own, such as those of an issuer
 *     max_turns = 2
 *
 *     [principals.alice]
 *     tokens = ["<SHA-256 of a token, 64 hexadecimal digits>"]
 *     max_conversations = 100
 *     max_turns = 4
 *     workspace_root = "/srv/alice"
 */
import * as ConfigTree from "@colloquy/config/ConfigTree"
import { faultOfIssue } from "@colloquy/config/ConfigFault"
import { Count } from "@colloquy/config/KeySchemas"
import type { Quota, QuotaOf } from "@colloquy/core/Quota"
import { localPrincipal } from "@colloquy/protocol/Connection"
import type { Workspaces } from "@colloquy/server/Workspace"
import { readFile } from "@colloquy/store/node/ReadFile"
import type { KnownToken } from "@colloquy/transport-http/guard/Principals"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { statSync } from "node:fs"
import { realpath } from "node:fs/promises"
import { isAbsolute, join } from "node:path"
import { codeOf, problemOf, stampOf } from "../config/ConfigFile.ts"

/** The file cannot be read or trusted, or is not valid. `message` names it, and the key, and contains no hash. */
export class PrincipalsFileError extends Data.TaggedError("PrincipalsFileError")<{
  readonly message: string
}> {}

/** What the file says, as it is now. */
export interface PrincipalsFile {
  /** The tokens of all principals. Reads the file again if it has changed. */
  readonly tokens: Effect.Effect<ReadonlyArray<KnownToken>>
  readonly quotaOf: QuotaOf
  readonly workspaces: Workspaces
}

const maxBytes = 1024 * 1024

const Hash = Schema.String.check(
  Schema.isPattern(/^[0-9a-f]{64}$/u, { expected: "a SHA-256 of 64 hexadecimal digits" }),
)

const Directory = Schema.String.check(
  Schema.makeFilter((path) => (isAbsolute(path) ? undefined : "Expected an absolute path")),
)

/** A name that can be written in a log. `oauth:` begins those of an issuer. */
const PrincipalName = Schema.String.check(
  Schema.isPattern(/^[\w.@:+|/-]{1,300}$/u, { expected: "a name without spaces" }),
)

const limits = {
  max_conversations: Schema.optionalKey(Count),
  max_turns: Schema.optionalKey(Count),
  workspace_root: Schema.optionalKey(Directory),
}

const Contents = Schema.Struct({
  default: Schema.optionalKey(Schema.Struct(limits)),
  principals: Schema.optionalKey(
    Schema.Record(
      PrincipalName,
      Schema.Struct({ tokens: Schema.optionalKey(Schema.Array(Hash)), ...limits }),
    ),
  ),
})
type Contents = typeof Contents.Type
type Rules = NonNullable<Contents["default"]>

const decode = Schema.decodeUnknownResult(Contents, { onExcessProperty: "error" })

const parse = (text: string): Result.Result<Contents, string> =>
  Result.flatMap(ConfigTree.parseToml(text), (tree) =>
    Result.mapError(decode(tree), ({ issue }) => faultOfIssue(issue, tree).message),
  ).pipe(
    Result.flatMap((contents) =>
      Object.hasOwn(contents.principals ?? {}, localPrincipal)
        ? Result.fail(
            `principals.${localPrincipal}: the user of the server has its token in \`http-token\``,
          )
        : Result.succeed(contents),
    ),
  )

const read = (path: string): Result.Result<Contents, string> => {
  try {
    if ((statSync(path).mode & 0o077) !== 0) {
      return Result.fail("other users may read it; run `chmod 600`")
    }
    return parse(new TextDecoder().decode(readFile(path, maxBytes)))
  } catch (error) {
    return codeOf(error) === "ENOENT" ? Result.succeed({}) : Result.fail(problemOf(error))
  }
}

const quotaFrom = ({ max_conversations: maxConversations, max_turns: maxTurns }: Rules): Quota => ({
  ...(maxConversations === undefined ? {} : { maxConversations }),
  ...(maxTurns === undefined ? {} : { maxTurns }),
})

const tokensOf = ({ principals = {} }: Contents): ReadonlyArray<KnownToken> =>
  Object.entries(principals).flatMap(([principal, { tokens = [] }]) =>
    tokens.map((sha256) => ({ principal, sha256 })),
  )

/** Anything that cannot be resolved is treated as missing, and refused. */
const realPath = (path: string): Effect.Effect<string | undefined> =>
  Effect.promise(() => realpath(path).catch(() => undefined))

/** What the principals may use, by the contents at each call. */
const rules = (contents: () => Contents): Omit<PrincipalsFile, "tokens"> => {
  const rulesOf = (principal: string): Rules | undefined => {
    const { default: others, principals = {} } = contents()
    return Object.hasOwn(principals, principal) ? principals[principal] : others
  }
  return {
    quotaOf: (owner) => {
      const found = owner === null ? undefined : rulesOf(owner)
      return found && quotaFrom(found)
    },
    workspaces: {
      rootOf: (principal) =>
        principal === localPrincipal ? undefined : rulesOf(principal)?.workspace_root,
      realPath,
    },
  }
}

/** Reads the file. Fails if it exists and cannot be used. */
export const open = Effect.fnUntraced(function* (
  directory: string,
): Effect.fn.Return<PrincipalsFile, PrincipalsFileError> {
  const path = join(directory, "principals.toml")
  let stamp: string | undefined
  let problem: string | undefined
  const first = yield* Effect.suspend(() =>
    Effect.mapError(
      Effect.fromResult(read(path)),
      (reason) => new PrincipalsFileError({ message: `${path}: ${reason}` }),
    ),
  )
  let contents: Contents = first
  let tokens = tokensOf(contents)

  const refresh = Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
    const found = stampOf(path, nowMs)
    if (found !== undefined && found === stamp) return Effect.void
    stamp = found
    const result = read(path)
    if (Result.isSuccess(result)) {
      contents = result.success
      tokens = tokensOf(contents)
      problem = undefined
      return Effect.void
    }
    if (problem === result.failure) return Effect.void
    problem = result.failure
    return Effect.logError(`${path}: ${problem}; what it said before stays in effect`)
  })

  return { tokens: Effect.map(refresh, () => tokens), ...rules(() => contents) }
})
