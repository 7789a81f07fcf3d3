import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { noSkills, SkillPort } from "../../../src/thread/host/ports/SkillPort.ts"
import { errorOf, resultOf } from "../../support/AppHarness.ts"
import { profile, savedConfig } from "../../support/SavedConfig.ts"
import { at, withThreads } from "../../support/Threading.ts"

const { config } = savedConfig({
  profiles: { fast: { ...profile, model: "small", modelReasoningEffort: "low" } },
})

describe("model/list", () => {
  it.effect("lists the models of the configuration in pages, with every member", () =>
    withThreads({ ports: { config } }, (app) =>
      Effect.gen(function* () {
        const first = resultOf(yield* app.ask(1, "model/list", { limit: 1 }))
        assert.strictEqual(first["nextCursor"], "1")
        const { supportedReasoningEfforts, ...model } = at(first, "data", 0) as Record<
          string,
          unknown
        >
        assert.isNotEmpty(supportedReasoningEfforts)
        assert.deepStrictEqual(model, {
          id: "mock-model",
          model: "mock-model",
          upgrade: null,
          upgradeInfo: null,
          availabilityNux: null,
          displayName: "mock-model",
          description: "In effect.",
          modelSpecialty: null,
          hidden: false,
          defaultReasoningEffort: "medium",
          inputModalities: ["text", "image"],
          supportsPersonality: false,
          multiAgentVersion: null,
          additionalSpeedTiers: [],
          serviceTiers: [],
          defaultServiceTier: null,
          availableAccessPrograms: null,
          isDefault: true,
        })
        const second = resultOf(yield* app.ask(2, "model/list", { cursor: "1" }))
        assert.strictEqual(at(second, "data", 0, "id"), "small")
        assert.strictEqual(second["nextCursor"], null)
        const error = errorOf(yield* app.ask(3, "model/list", { cursor: "x" }))
        assert.deepStrictEqual(error, { code: -32600, message: "invalid cursor: x" })
      }),
    ),
  )
})

describe("permissionProfile/list", () => {
  it.effect("lists the built-in sets of permissions", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const { data } = resultOf(yield* app.ask(1, "permissionProfile/list", {}))
        assert.deepStrictEqual(
          (data as ReadonlyArray<object>).map((one) => [at(one, "id"), at(one, "allowed")]),
          [
            [":read-only", true],
            [":workspace", true],
            [":danger-full-access", true],
          ],
        )
      }),
    ),
  )
})

describe("collaborationMode/list", () => {
  it.effect("lists the modes", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "collaborationMode/list", {})), {
          data: [
            { name: "Plan", mode: "plan", model: null, reasoning_effort: null },
            { name: "Default", mode: "default", model: null, reasoning_effort: null },
          ],
        })
      }),
    ),
  )
})

describe("skills/list", () => {
  it.effect("lists the skills and the faulty files of each directory", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "skills/list", { cwds: ["/a", "b"] })), {
          data: [
            {
              cwd: "/a",
              skills: [
                {
                  name: "deploy",
                  description: "How to deploy.",
                  path: "/a/.agents/skills/deploy/SKILL.md",
                  scope: "repo",
                  enabled: true,
                  pluginId: null,
                },
              ],
              errors: [],
            },
            { cwd: "/work/b", skills: [], errors: [{ path: "/work/b/SKILL.md", message: "bad" }] },
          ],
        })
      }),
    ).pipe(
      Effect.provideService(SkillPort, {
        ...noSkills,
        list: (cwd) =>
          Effect.succeed(
            cwd === "/a"
              ? {
                  skills: [
                    {
                      name: "deploy",
                      description: "How to deploy.",
                      path: "/a/.agents/skills/deploy/SKILL.md",
                      scope: "repo",
                    },
                  ],
                  errors: [],
                }
              : { skills: [], errors: [{ path: `${cwd}/SKILL.md`, message: "bad" }] },
          ),
      }),
    ),
  )
})

describe("hooks/list and plugin/installed", () => {
  it.effect("are empty, for the directory of the server by default", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "hooks/list", {})), {
          data: [{ cwd: "/work", hooks: [], warnings: [], errors: [] }],
        })
        assert.deepStrictEqual(resultOf(yield* app.ask(2, "plugin/installed", {})), {
          marketplaces: [],
          marketplaceLoadErrors: [],
        })
      }),
    ),
  )
})
