/** Methods of app-server v2 that list what extends the agent by directory: skills, hooks and plugins. */
import * as Schema from "effect/Schema"
import { SystemText } from "../text/SystemText.ts"
import { notification, request } from "../Method.ts"
import { maybe, none, Open, orNull } from "./Values.ts"

const directories = {
  /** Default: the directory of the server. */
  cwds: maybe(Schema.Array(SystemText)),
}

const problems = Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))

/** How a client shows a skill. */
const SkillInterface = Schema.Struct({
  displayName: orNull(Schema.String),
  shortDescription: orNull(Schema.String),
  iconSmall: orNull(Schema.String),
  iconLarge: orNull(Schema.String),
  iconSmallUrl: orNull(Schema.String),
  iconLargeUrl: orNull(Schema.String),
  brandColor: orNull(Schema.String),
  defaultPrompt: orNull(Schema.String),
})

/** Instructions for a task, which the model reads when it needs them. */
export const Skill = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  shortDescription: Schema.optionalKey(Schema.String),
  interface: Schema.optionalKey(SkillInterface),
  dependencies: Schema.optionalKey(Open),
  /** Absolute path of its SKILL.md. */
  path: Schema.String,
  scope: Schema.Literals(["system", "user", "repo", "admin"]),
  enabled: Schema.Boolean,
  pluginId: none,
}).annotate({ identifier: "Skill" })
/** A decoded `Skill`. */
export type Skill = typeof Skill.Type

/** Lists skills. */
export const SkillsList = request("skills/list", {
  params: Schema.Struct({
    ...directories,
    /** True: the directories are read again. Default false. */
    forceReload: maybe(Schema.Boolean),
  }),
  result: Schema.Struct({
    data: Schema.Array(
      Schema.Struct({
        cwd: Schema.String,
        skills: Schema.Array(Skill),
        errors: problems,
      }),
    ),
  }),
  since: "0.75",
  doc: "Lists the skills that the agent has in each directory.",
})

/** The skills have changed. */
export const SkillsChanged = notification("skills/changed", {
  params: Schema.Struct({}),
  since: "0.99",
  doc: "A skill may have changed, been added or removed in a directory of an earlier `skills/list` of this connection.",
})

/** Lists hooks. */
export const HooksList = request("hooks/list", {
  params: Schema.Struct(directories),
  result: Schema.Struct({
    data: Schema.Array(
      Schema.Struct({
        cwd: Schema.String,
        /** This program has no hooks. */
        hooks: Schema.Array(Open),
        warnings: Schema.Array(Schema.String),
        errors: problems,
      }),
    ),
  }),
  since: "0.130",
  doc: "Lists the hooks of each directory. This program has none.",
})

/** Lists installed plugins. */
export const PluginInstalled = request("plugin/installed", {
  params: Schema.Struct(directories),
  result: Schema.Struct({
    /** This program has no plugins. */
    marketplaces: Schema.Array(Open),
    marketplaceLoadErrors: Schema.Array(Open),
  }),
  since: "0.140",
  doc: "Lists the installed plugins. This program has none.",
})
