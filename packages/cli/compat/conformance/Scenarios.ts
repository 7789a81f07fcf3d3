/** The scenarios of the referee that are run: every one that it has for a revision. */

export interface Run {
  readonly name: string
  /** Arguments of the referee's command `server`. */
  readonly words: ReadonlyArray<string>
  /** Scenarios that must pass. */
  readonly passed: ReadonlyArray<string>
}

/** Scenarios of every revision since 2025-06-18. */
const always = [
  "completion-complete",
  "prompts-get-embedded-resource",
  "prompts-get-simple",
  "prompts-get-with-args",
  "prompts-get-with-image",
  "prompts-list",
  "resources-list",
  "resources-read-binary",
  "resources-read-text",
  "resources-templates-read",
  "tools-call-audio",
  "tools-call-embedded-resource",
  "tools-call-error",
  "tools-call-image",
  "tools-call-mixed-content",
  "tools-call-simple-text",
  "tools-call-with-progress",
  "tools-list",
]

/** Scenarios of the revisions with `initialize`. */
const withSessions = [
  "logging-set-level",
  "ping",
  "resources-subscribe",
  "resources-unsubscribe",
  "server-initialize",
  "tools-call-elicitation",
  "tools-call-sampling",
  "tools-call-with-logging",
]

const withInput = [
  "basic-elicitation",
  "basic-list-roots",
  "basic-sampling",
  "capability-check",
  "ignore-extra-params",
  "missing-input-response",
  "multi-round",
  "multiple-input-requests",
  "non-tool-request",
  "request-state",
  "result-type",
  "tampered-state",
  "unsupported-methods",
  "validate-input",
].map((name) => `input-required-result-${name}`)

const tasks = [
  "capability-negotiation",
  "dispatch-and-envelope",
  "lifecycle",
  "mrtr-composition",
  "mrtr-input",
  "request-headers",
  "request-state-removal",
  "required-task-error",
  // The referee only reports that it does not test this yet.
  "status-notifications",
  "wire-fields",
].map((name) => `tasks-${name}`)

export const runs: ReadonlyArray<Run> = [
  {
    name: "--requirements 2026-07-28",
    words: ["--requirements", "2026-07-28"],
    passed: [
      ...always,
      ...withInput,
      ...tasks,
      "caching",
      "dns-rebinding-protection",
      "http-custom-header-server-validation",
      "http-header-validation",
      "json-schema-2020-12",
      "sep-2164-resource-not-found",
      "server-sse-multiple-streams",
      "server-stateless",
    ],
  },
  {
    name: "--requirements 2025-11-25",
    words: ["--requirements", "2025-11-25"],
    passed: [
      ...always,
      ...withSessions,
      "dns-rebinding-protection",
      "elicitation-sep1034-defaults",
      "elicitation-sep1330-enums",
      "json-schema-2020-12",
      "server-session-lifecycle",
      "server-sse-multiple-streams",
      "server-sse-polling",
    ],
  },
  {
    name: "--suite all --spec-version 2025-06-18",
    words: ["--suite", "all", "--spec-version", "2025-06-18"],
    passed: [...always, ...withSessions, "server-session-lifecycle"],
  },
  {
    name: "--suite all --spec-version 2025-03-26",
    words: ["--suite", "all", "--spec-version", "2025-03-26"],
    passed: ["server-session-lifecycle"],
  },
]
