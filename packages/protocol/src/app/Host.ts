/** Methods about the machine and the configuration, independent of any conversation. The wire: packages/docs/wire/app-server.md. */
import * as Schema from "effect/Schema"
import { SystemText } from "../text/SystemText.ts"
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

/** Reports the diff against a remote. */
export const GitDiffToRemote = request("gitDiffToRemote", {
  params: Schema.Struct({ cwd: SystemText }),
  result: Schema.Struct({ sha: Schema.String, diff: Schema.String }),
  since: "0.25",
  doc: "Reports the nearest commit that exists on a remote, and the diff of the working tree against it, including new files.",
})

/** Runs one command. */
export const ExecOneOffCommand = request("execOneOffCommand", {
  params: Schema.Struct({
    command: Schema.Array(SystemText),
    /** Milliseconds. Default 10,000. */
    timeoutMs: maybe(Count),
    cwd: maybe(SystemText),
    sandboxPolicy: maybe(SandboxPolicy),
  }),
  result: Schema.Struct({
    exitCode: Schema.Int,
    stdout: Schema.String,
    stderr: Schema.String,
  }),
  since: "0.36",
  doc: "Runs a command, given by its words, in the configured sandbox, without an approval. Responds when the command has ended.",
})

/** Searches files by name. */
export const FuzzyFileSearch = request("fuzzyFileSearch", {
  params: Schema.Struct({
    query: Schema.String,
    roots: Schema.Array(SystemText),
    /** A search ends an earlier one with the same token, whose response has the results so far. */
    cancellationToken: maybe(Schema.String),
  }),
  result: Schema.Struct({
    files: Schema.Array(
      Schema.Struct({
        root: Schema.String,
        /** Relative to the root. */
        path: Schema.String,
        file_name: Schema.String,
        /** Higher is better. */
        score: Schema.Finite,
        /** Positions in `path` that the query matched, in UTF-16 code units. */
        indices: Schema.optionalKey(Schema.Array(Schema.Int)),
      }),
    ),
  }),
  since: "0.45",
  doc: "Searches the files below the roots by a query that may leave characters out. Best matches come first.",
})

/** A profile of config.toml. A member that is not set is `null`. */
const Profile = Schema.Struct({
  model: Schema.NullOr(Schema.String),
  modelProvider: Schema.NullOr(Schema.String),
  approvalPolicy: Schema.NullOr(AskForApproval),
  modelReasoningEffort: Schema.NullOr(ReasoningEffort),
  modelReasoningSummary: Schema.NullOr(ReasoningSummary),
  modelVerbosity: Schema.NullOr(Verbosity),
  chatgptBaseUrl: Schema.NullOr(Schema.String),
})

/** The settings in config.toml that clients show. */
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
/** A decoded `UserSavedConfig`. */
export type UserSavedConfig = typeof UserSavedConfig.Type

/** Reports the settings in config.toml. */
export const GetUserSavedConfig = request("getUserSavedConfig", {
  result: Schema.Struct({ config: UserSavedConfig }),
  since: "0.36",
  doc: "Reports the settings in config.toml that clients show.",
})

/** Writes the default model. */
export const SetDefaultModel = request("setDefaultModel", {
  params: Schema.Struct({
    model: maybe(Schema.String),
    reasoningEffort: maybe(ReasoningEffort),
  }),
  result: Schema.Struct({}),
  cancellable: false,
  since: "0.36",
  doc: "Writes the default model to config.toml, to the active profile if there is one. A member that is absent is cleared.",
})

/** One model of a provider. */
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
/** A decoded `ModelEntry`. */
export type ModelEntry = typeof ModelEntry.Type

/** Lists models. */
export const ModelList = request("model/list", {
  params: Schema.Struct({ pageSize: maybe(Count), cursor: maybe(Schema.String) }),
  result: Schema.Struct({
    items: Schema.Array(ModelEntry),
    nextCursor: Schema.optionalKey(Schema.String),
  }),
  since: "0.48",
  doc: "Lists the known models of the active provider, in pages.",
})
