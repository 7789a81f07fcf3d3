/** Reads the file of `--output-schema`. */
import { parseJson } from "@colloquy/protocol/Json"
import { readFile } from "@colloquy/store/node/ReadFile"
import * as Effect from "effect/Effect"
import { reasonLine } from "../log/ErrorLine.ts"
import { ExecFailed } from "./ExecFailed.ts"

const maxBytes = 1024 * 1024

const failed = (message: string): ExecFailed => new ExecFailed({ message })

/** Bytes that are not UTF-8 are an error: replaced ones would be another schema. */
const textOf = (path: string): string =>
  new TextDecoder("utf-8", { fatal: true }).decode(readFile(path, maxBytes))

/** The JSON Schema; undefined without a path. Fails where the file is no JSON object of at most 1 MiB. */
export const schemaOf = (path: string | undefined): Effect.Effect<unknown, ExecFailed> => {
  if (path === undefined) return Effect.undefined
  return Effect.try({
    try: () => textOf(path),
    catch: (error) => failed(`Failed to read output schema file ${path}: ${reasonLine(error)}`),
  }).pipe(
    Effect.flatMap((text) =>
      Effect.mapError(Effect.fromResult(parseJson(text)), ({ detail }) =>
        failed(`Output schema file ${path} is not valid JSON: ${detail}`),
      ),
    ),
    Effect.filterOrFail(
      (schema) => typeof schema === "object" && schema !== null && !Array.isArray(schema),
      () => failed(`Output schema file ${path} is not a JSON Schema: expected an object`),
    ),
  )
}
