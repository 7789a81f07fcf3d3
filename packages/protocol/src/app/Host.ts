/** What a client asks of the machine and of the configuration beside any conversation (§3.11). */
import * as Schema from "effect/Schema"
import { request } from "../Method.ts"
import {
  AskForApproval,
  ConfiguredSandboxMode,
  ReasoningEffort,
  ReasoningSummary,
  SandboxPolicy,
  Verbosity,
} from "../Policy.ts"
import { Count, maybe } from "./Fields.ts"

export const GitDiffToRemote = request("gitDiffToRemote", {
  params: Schema.Struct({ cwd: Schema.String }),
  result: Schema.Struct({ sha: Schema.String, diff: Schema.String }),
  since: "0.25",
  doc: "The nearest commit that a remote has, and the diff of the working tree against it, new files included.",
})

export const ExecOneOffCommand = request("execOneOffCommand", {
  params: Schema.Struct({
    command: Schema.Array(Schema.String),
    /** Default 10,000. */
    timeoutMs: maybe(Count),
    cwd: maybe(Schema.String),
    sandboxPolicy: maybe(SandboxPolicy),
  }),
  result: Schema.Struct({
    exitCode: Schema.Int,
    stdout: Schema.String,
    stderr: Schema.String,
  }),
  since: "0.36",
  doc: "Runs a program, word by word, in the sandbox of the configuration; no person is asked.",
})

export const FuzzyFileSearch = request("fuzzyFileSearch", {
  params: Schema.Struct({
    query: Schema.String,
    roots: Schema.Array(Schema.String),
    /** A later search with the same one ends an earlier one, which is answered with what it has. */
    cancellationToken: maybe(Schema.String),
  }),
  result: Schema.Struct({
    files: Schema.Array(
      Schema.Struct({
        root: Schema.String,
        /** Below the root. */
        path: Schema.String,
        file_name: Schema.String,
        /** The higher the better. */
        score: Schema.Finite,
        /** Positions in `path` that the query matched, in UTF-16 code units. */
        indices: Schema.optionalKey(Schema.Array(Schema.Int)),
      }),
    ),
  }),
  since: "0.45",
  doc: "Files below the roots whose path resembles the query, best first.",
})

/** In a profile an unset member is `null`. */
const Profile = Schema.Struct({
  model: Schema.NullOr(Schema.String),
  modelProvider: Schema.NullOr(Schema.String),
  approvalPolicy: Schema.NullOr(AskForApproval),
  modelReasoningEffort: Schema.NullOr(ReasoningEffort),
  modelReasoningSummary: Schema.NullOr(ReasoningSummary),
  modelVerbosity: Schema.NullOr(Verbosity),
  chatgptBaseUrl: Schema.NullOr(Schema.String),
})

export const UserSavedConfig = Schema.Struct({
  approvalPolicy: Schema.optionalKey(AskForApproval),
  sandboxMode: Schema.optionalKey(ConfiguredSandboxMode),
  sandboxSettings: Schema.optionalKey(
    Schema.Struct({
      writableRoots: Schema.Array(Schema.String),
      networkAccess: Schema.optionalKey(Schema.Boolean),
      excludeTmpdirEnvVar: Schema.optionalKey(Schema.Boolean),
      excludeSlashTmp: Schema.optionalKey(Schema.Boolean),
    }),
  ),
  model: Schema.optionalKey(Schema.String),
  modelReasoningEffort: Schema.optionalKey(ReasoningEffort),
  modelReasoningSummary: Schema.optionalKey(ReasoningSummary),
  modelVerbosity: Schema.optionalKey(Verbosity),
  tools: Schema.optionalKey(
    Schema.Struct({
      webSearch: Schema.optionalKey(Schema.Boolean),
      viewImage: Schema.optionalKey(Schema.Boolean),
    }),
  ),
  profile: Schema.optionalKey(Schema.String),
  profiles: Schema.Record(Schema.String, Profile),
})
export type UserSavedConfig = typeof UserSavedConfig.Type

export const GetUserSavedConfig = request("getUserSavedConfig", {
  result: Schema.Struct({ config: UserSavedConfig }),
  since: "0.36",
  doc: "What stands in config.toml, of the keys that clients show.",
})

export const SetDefaultModel = request("setDefaultModel", {
  params: Schema.Struct({
    model: maybe(Schema.String),
    reasoningEffort: maybe(ReasoningEffort),
  }),
  result: Schema.Struct({}),
  cancellable: false,
  since: "0.36",
  doc: "Writes the model of new conversations to config.toml, to the active profile where there is one; what is left out is cleared.",
})

export const ModelEntry = Schema.Struct({
  id: Schema.String,
  model: Schema.String,
  displayName: Schema.String,
  description: Schema.String,
  supportedReasoningEfforts: Schema.Array(
    Schema.Struct({ reasoningEffort: ReasoningEffort, description: Schema.String }),
  ),
  defaultReasoningEffort: ReasoningEffort,
  isDefault: Schema.Boolean,
})
export type ModelEntry = typeof ModelEntry.Type

export const ModelList = request("model/list", {
  params: Schema.Struct({ pageSize: maybe(Count), cursor: maybe(Schema.String) }),
  result: Schema.Struct({
    items: Schema.Array(ModelEntry),
    nextCursor: Schema.optionalKey(Schema.String),
  }),
  since: "0.48",
  doc: "The models that are known of the provider in effect, a page at a time.",
})
