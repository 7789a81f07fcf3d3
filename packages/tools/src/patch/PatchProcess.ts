/**
 * Starts the program that writes a patch, and reads its response. Owns the format of both. Confining and running the
 * program is left to `Sandbox` and `CommandRunner`. Pure.
 */
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Unconfined } from "../sandbox/Sandbox.ts"
import type { PatchPlan } from "./PatchPlan.ts"
import type { FileState, Operation } from "./Operation.ts"
import * as PatchProgram from "./PatchProgram.ts"

/** Where the program may write. */
export interface Scope {
  /** Absolute paths without links; whatever is written must be one of them or lie below one. Undefined: anywhere. */
  readonly within: ReadonlyArray<string> | undefined
  /** Absolute paths without links; nothing at or below them is touched. */
  readonly keepOut: ReadonlyArray<string>
}

const expected = (state: FileState): PatchProgram.Expected => {
  if (state._tag === "Text") return { text: state.text }
  return state._tag === "Binary" ? { base64: Base64.encode(state.bytes) } : null
}

const step = (operation: Operation): PatchProgram.Step => {
  const { path } = operation
  const before = expected(operation.before)
  switch (operation._tag) {
    case "Delete":
      return { op: "delete", path, before }
    case "Write":
      return { op: "write", path, before, content: operation.content }
    case "Move": {
      const { content, to } = operation
      return { op: "move", path, before, to, toBefore: expected(operation.toBefore), content }
    }
  }
}

/**
 * The program as it is to run, not confined yet. `node` is the absolute path of a Node that runs here
 * (`process.execPath`), `cwd` an existing absolute directory; the paths of the plan do not depend on it. The
 * environment is empty, as in the original.
 */
export const launch = (
  node: string,
  cwd: string,
  plan: Pick<PatchPlan, "operations">,
  scope: Scope,
): Unconfined => {
  const request: PatchProgram.Request = {
    steps: plan.operations.map(step),
    within: scope.within ?? null,
    keepOut: scope.keepOut,
  }
  return {
    argv: [node, "-e", PatchProgram.source],
    cwd,
    env: {},
    stdin: new TextEncoder().encode(JSON.stringify(request)),
  }
}

const Response = Schema.fromJsonString(
  Schema.Struct({
    done: Schema.Int,
    error: Schema.NullOr(Schema.Struct({ message: Schema.String, reason: Schema.String })),
  }),
)

/** The response of the program. */
export interface Applied {
  /** How many operations of the plan were performed, from the first on; they are not undone. */
  readonly done: number
  /** Text for standard error, a line or two; undefined: all operations were performed. */
  readonly error: string | undefined
}

/** Reads the program's standard output. Anything but a response counts as a failure before the first operation. */
export const read = (stdout: string): Applied =>
  Result.match(Schema.decodeResult(Response)(stdout), {
    onFailure: () => ({ done: 0, error: "the program that applies patches did not finish" }),
    onSuccess: ({ done, error }) => ({
      done,
      error:
        error === null
          ? undefined
          : `${error.message}${error.reason === "" ? "" : `\nCaused by: ${error.reason}`}`,
    }),
  })
