/** Methods of app-server v2 that search files by name, or compare them with a remote. */
import * as Schema from "effect/Schema"
import { SystemText } from "../text/SystemText.ts"
import { notification, request } from "../Method.ts"
import { maybe, orNull } from "./Values.ts"

const done = Schema.Struct({})

/** One file that was found. */
export const FoundFile = Schema.Struct({
  root: Schema.String,
  /** Relative to the root. */
  path: Schema.String,
  match_type: Schema.Literals(["file", "directory"]),
  file_name: Schema.String,
  /** Higher is better. */
  score: Schema.Finite,
  /** Positions in `path` that the query matched. */
  indices: orNull(Schema.Array(Schema.Int)),
}).annotate({ identifier: "FoundFile" })
/** A decoded `FoundFile`. */
export type FoundFile = typeof FoundFile.Type

const search = {
  query: Schema.String,
  files: Schema.Array(FoundFile),
}

const roots = Schema.Array(SystemText)

/** Searches files by name. */
export const FuzzyFileSearch = request("fuzzyFileSearch", {
  params: Schema.Struct({
    query: Schema.String,
    roots,
    /** A search ends an earlier one with the same token, whose response has the results so far. */
    cancellationToken: maybe(Schema.String),
  }),
  result: Schema.Struct({ files: search.files }),
  since: "0.45",
  doc: "Searches the files below the roots by a query that may leave characters out. Best matches come first.",
})

const session = {
  /** Chosen by the client; unique on its connection. */
  sessionId: Schema.String,
}

/** Starts a session of searches. */
export const SearchSessionStart = request("fuzzyFileSearch/sessionStart", {
  params: Schema.Struct({ ...session, roots }),
  result: done,
  experimental: true,
  cancellable: false,
  since: "0.99",
  doc: "Starts a session: the files below the roots are listed once and searched with every query.",
})

/** Changes the query of a session. */
export const SearchSessionUpdate = request("fuzzyFileSearch/sessionUpdate", {
  params: Schema.Struct({ ...session, query: Schema.String }),
  result: done,
  experimental: true,
  cancellable: false,
  since: "0.99",
  doc: "Searches the files of a session. The results are notified as they are found.",
})

/** Ends a session of searches. */
export const SearchSessionStop = request("fuzzyFileSearch/sessionStop", {
  params: Schema.Struct(session),
  result: done,
  experimental: true,
  cancellable: false,
  since: "0.99",
  doc: "Ends a session.",
})

/** Results of a session so far. */
export const SearchSessionUpdated = notification("fuzzyFileSearch/sessionUpdated", {
  params: Schema.Struct({ ...session, ...search }),
  since: "0.99",
  doc: "The files that match the query of a session so far, best first. Sent to the connection of the session.",
})

/** All files of a session were searched. */
export const SearchSessionCompleted = notification("fuzzyFileSearch/sessionCompleted", {
  params: Schema.Struct(session),
  since: "0.99",
  doc: "All files of a session were searched with its query.",
})

/** Reports the diff against a remote. */
export const GitDiffToRemote = request("gitDiffToRemote", {
  params: Schema.Struct({ cwd: SystemText }),
  result: Schema.Struct({ sha: Schema.String, diff: Schema.String }),
  since: "0.25",
  doc: "Reports the nearest commit that exists on a remote, and the diff of the working tree against it, including new files.",
})
