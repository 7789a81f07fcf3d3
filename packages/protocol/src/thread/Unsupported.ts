/**
 * The methods of the original's app-server v2 that this program knows and does not serve, with the reasons. A client that
 * sends one gets an error with the reason. No known client depends on one. Pure.
 */

/** Methods that are not served for one reason. */
export interface UnsupportedMethods {
  /** Exact names, or beginnings of names that end in a slash. */
  readonly methods: ReadonlyArray<string>
  /** Completes the sentence "is not supported:". */
  readonly reason: string
}

/** The login with a code on another device, which is a value of a method that is served otherwise. */
export const unsupportedLogin = {
  type: "chatgptDeviceCode",
  reason:
    "the requests by which the issuer of the original gives such codes are not documented; log in in the browser or with a key",
} as const

/** The switches of the approval policy `granular` that change nothing: they are accepted, and shown as off. */
export const unsupportedSwitches = {
  names: ["rules", "skill_approval"],
  reason:
    "this program has no rules for commands and asks nothing before a skill is used; they are accepted, and shown as off",
} as const

/** All of them. */
export const unsupportedMethods: ReadonlyArray<UnsupportedMethods> = [
  {
    methods: [
      "account/usage/read",
      "account/rateLimitResetCredit/",
      "account/sendAddCreditsNudgeEmail",
      "account/workspaceMessages/",
      "account/securitySetup/",
      "accountSession/",
      "feedback/",
      "userVerification/",
      "remoteControl/",
    ],
    reason: "it needs a service of OpenAI that only OpenAI's own clients may use",
  },
  {
    methods: ["account/gatewayOAuth/", "account/bedrock/", "account/gcp/", "modelProvider/"],
    reason: "logins and providers are set in config.toml",
  },
  {
    methods: ["app/", "marketplace/", "plugin/", "skills/config/write", "skills/extraRoots/set"],
    reason:
      "this program has no apps and plugins; skills are files in the directories of the user and the project",
  },
  {
    methods: [
      "experimentalFeature/",
      "externalAgentConfig/",
      "environment/",
      "project/",
      "windowsSandbox/",
      "server/diagnostics",
    ],
    reason:
      "this program has no feature switches, remote environments, projects and imports of other agents",
  },
  {
    methods: ["config/mcpServer/reload", "mcpServer/oauth/", "mcpServer/event/"],
    reason: "the servers of a thread are those of config.toml when it is loaded",
  },
  {
    methods: ["process/"],
    reason: "commands run in the sandbox by `command/exec`",
  },
  {
    methods: [
      "memory/",
      "thread/memory/",
      "thread/memoryMode/",
      "thread/goal/",
      "thread/prediction/",
      "thread/prepareApprovedPlan",
      "thread/guardianReview/",
      "thread/approveGuardianDeniedAction",
      "thread/sample",
      "thread/sample/",
      "thread/realtime/",
      "thread/increment_elicitation",
      "thread/decrement_elicitation",
    ],
    reason: "the agent has no memories, goals, predictions, automatic reviewer and voice",
  },
  {
    methods: [
      "thread/attachment/",
      "thread/attachmentOwner/",
      "thread/section/",
      "thread/timeline/",
      "threadSection/",
      "thread/metadata/",
      "thread/items/read",
      "rollout/",
    ],
    reason: "a thread has its log, a name and an archive, and nothing else is kept with it",
  },
  {
    methods: ["thread/search", "thread/searchOccurrences"],
    reason: "`thread/list` searches by `searchTerm`",
  },
  {
    methods: ["thread/rollback"],
    reason: "the original has removed it after version 0.153; `thread/revert` drops turns",
  },
  {
    methods: ["thread/inject_items"],
    reason: "the history of a thread has only what its turns have added",
  },
  {
    methods: ["thread/backgroundTerminals/"],
    reason: "no command outlives its turn",
  },
  {
    methods: ["turn/settings/"],
    reason: "`thread/settings/update` sets what later turns use",
  },
  {
    methods: ["mock/"],
    reason: "it exists for the tests of the original",
  },
]

/** Why a method of the original's app-server v2 is not served; undefined for every other method. */
export const unsupportedReason = (method: string): string | undefined =>
  unsupportedMethods.find(({ methods }) =>
    methods.some((known) =>
      known.endsWith("/")
        ? method.startsWith(known) && /^[^/]+(?:\/[^/]+)+$/.test(method)
        : method === known,
    ),
  )?.reason
