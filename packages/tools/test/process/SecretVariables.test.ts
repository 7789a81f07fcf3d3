import { assert, describe, it } from "@effect/vitest"
import { environmentOf } from "../../src/process/EnvironmentPolicy.ts"
import { isSecretVariable } from "../../src/process/SecretVariables.ts"

const words = (text: string): ReadonlyArray<string> => text.split(/\s+/).filter(Boolean)

/** Secret whatever they hold. */
const secretNames = words(`
  API_KEY OPENAI_API_KEY apiKey APIKEY KEY SSH_KEY KEYS SIGNING_KEYS ENCRYPTION_KEY_2 KEY1 KEYSTORE_FILE KEYRING
  SECRET CLIENT_SECRET MYSECRET JWT_SECRET_BASE
  TOKEN GITHUB_TOKEN AUTHTOKEN NGROK_AUTHTOKEN npm_config__authToken npm_config_//packages.example.org/:_authToken HF_TOKENS
  PASSWORD DB_PASSWORD PGPASSWORD POSTGRES_PASSWORD_FILE dbPassword PASSWD SMTP_PASS SSHPASS PASSPHRASE BORG_PASSPHRASE
  MYSQL_PWD DB_PWD PGPASSFILE GIT_ASKPASS SSH_ASKPASS
  CREDENTIAL ACME_CREDENTIALS GOOGLE_APPLICATION_CREDENTIALS DB_CREDS
  AUTH NPM_AUTH npm_config__auth BASIC_AUTH DOCKER_AUTH_CONFIG SSH_AUTH_SOCK OAUTH2 AUTHORIZATION
  PAT GITLAB_PAT AZURE_DEVOPS_EXT_PAT
  DSN SENTRY_DSN DATABASE_URL TEST_DATABASE_URL REDIS_URL MONGODB_URI AMQP_URL CELERY_BROKER_URL DATABASEURL
  AZURE_STORAGE_CONNECTION_STRING SERVICEBUS_CONNECTIONSTRING SLACK_WEBHOOK_URL
  COOKIE SESSION_COOKIE BW_SESSION OP_SESSION_my SESSION_ID
  PRIVATE PRIVATE_PEM JWT NETRC KUBECONFIG DOCKER_CONFIG GPG_AGENT_INFO
  AWS_ACCESS_KEY_ID AWS_PROFILE AWS_SESSION_TOKEN AZURE_CLIENT_ID GITHUB_ENV GITHUB_OUTPUT GH_ENTERPRISE_TOKEN VAULT_TOKEN
`)

/** Kept, with a value such as they have. */
const kept: Readonly<Record<string, string>> = {
  PATH: "/home/me/.local/bin:/usr/bin:/bin",
  HOME: "/home/me",
  LANG: "en_US.UTF-8",
  LC_ALL: "C",
  TERM: "xterm-256color",
  SHELL: "/bin/bash",
  USER: "me",
  LOGNAME: "me",
  TMPDIR: "/tmp",
  PWD: "/work",
  OLDPWD: "/work/pass",
  SSH_TTY: "/dev/pts/1",
  SSH_CONNECTION: "10.0.0.2 50022 10.0.0.1 22",
  GPG_TTY: "/dev/pts/1",
  CI: "true",
  NODE_ENV: "test",
  NODE_OPTIONS: "--max-old-space-size=4096",
  NODE_PATH: "/usr/lib/node_modules",
  NODE_EXTRA_CA_CERTS: "/etc/ssl/ca.pem",
  SSL_CERT_FILE: "/etc/ssl/cert.pem",
  JAVA_HOME: "/usr/lib/jvm/21",
  GOPATH: "/home/me/go",
  GOPROXY: "https://proxy.golang.org,direct",
  VIRTUAL_ENV: "/work/.venv",
  PYTHONPATH: "/work/src",
  CARGO_HOME: "/home/me/.cargo",
  npm_config_registry: "https://packages.example.org/",
  npm_config_user_agent: "npm/11.0.0 node/v24.0.0 linux x64 workspaces/false",
  npm_package_name: "authors",
  npm_lifecycle_script: "vitest run --passWithNoTests",
  KEYBOARD: "us",
  KEYMAP: "de",
  KEYBOARD_LAYOUT: "de",
  XKB_DEFAULT_LAYOUT: "de",
  MONKEY: "george",
  MONKEY_PATCH: "1",
  TURKEY: "1",
  TOKENIZERS_PARALLELISM: "false",
  COMPASS: "north",
  BYPASS_CACHE: "1",
  PATTERN: "*.ts",
  GIT_AUTHOR_NAME: "Me",
  GIT_AUTHOR_EMAIL: "me@example.org",
  XDG_SESSION_ID: "3",
  XDG_SESSION_TYPE: "wayland",
  DESKTOP_SESSION: "gnome",
  DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/user/1000/bus",
  SESSION_MANAGER: "local/host:@/tmp/.ICE-unix/1",
  TERM_SESSION_ID: "w0t0p0",
  AWS_REGION: "eu-central-1",
  AWS_DEFAULT_REGION: "eu-central-1",
  GITHUB_ACTIONS: "true",
  GITHUB_SHA: "0123456789012345678901234567890123456789",
  GITHUB_WORKSPACE: "/work",
  http_proxy: "http://proxy.example.org:3128",
  BASE_URL: "https://example.org/a?b=c#d",
  GIT_URL: "ssh://git@github.com/me/it.git",
  EMAIL: "me@example.org",
  LS_COLORS: "rs=0:di=01;34:ln=01;36",
  PS1: "\\u@\\h:\\w$ ",
  TASK: "task-0123456789012345678901234567890",
  VERSION: "eyJ",
}

/** Secret under any name. */
const secretValues: ReadonlyArray<string> = [
  "postgres://me:hunter2@db.example.org:5432/app",
  "redis://:hunter2@cache:6379/0",
  "http://me:hunter2@proxy.example.org:3128",
  "https://0123456789abcdef@o1.ingest.sentry.io/1",
  "Server=db;User Id=me;Password=hunter2;",
  "host=db user=me password=hunter2",
  "https://example.org/hook?a=1&token=hunter2",
  "ghp_0123456789abcdefABCDEF0123456789abcd",
  "github_pat_11ABCDEFG0123456789_abcdefghij",
  "glpat-0123456789abcdefghij",
  "sk-proj-0123456789abcdefghij",
  "sk_live_0123456789",
  "xoxb-0123456789-abcdef",
  "AKIAIOSFODNN7EXAMPLE",
  "AIzaSyA0123456789abcdefghijklmnopqrstuvw",
  "npm_0123456789abcdefABCDEF0123456789abcd",
  "--header=Authorization ghs_0123456789abcdefABCDEF0123456789abcd",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl",
  "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE=",
  '{"type":"service_account","private":"-----BEGIN PRIVATE KEY-----"}',
  "Bearer 0123456789",
]

describe("SecretVariables", () => {
  it("L15 takes by its name what a person would call a secret", () => {
    for (const name of secretNames) assert.isTrue(isSecretVariable(name, "1"), name)
  })

  it("L15 takes a secret by its value, whatever its name", () => {
    for (const value of secretValues) assert.isTrue(isSecretVariable("HARMLESS", value), value)
  })

  it("keeps what programs and builds need", () => {
    for (const [name, value] of Object.entries(kept)) {
      assert.isFalse(isSecretVariable(name, value), name)
    }
  })

  it("L15 no secret is inherited unless the settings say so", () => {
    const parent = {
      ...kept,
      ...Object.fromEntries(secretNames.map((name) => [name, "1"])),
      ...Object.fromEntries(secretValues.map((value, index) => [`HARMLESS_${index}`, value])),
    }
    const options = { networkDisabled: false, providerKeyNames: [] }
    assert.deepStrictEqual(environmentOf(parent, undefined, options), kept)
    const asked = {
      inherit: "all",
      ignoreDefaultExcludes: true,
      exclude: [],
      set: {},
      includeOnly: [],
    } as const
    const { OPENAI_API_KEY: _, ...withSecrets } = parent
    assert.deepStrictEqual(environmentOf(parent, asked, options), withSecrets)
    const set = { ...asked, ignoreDefaultExcludes: false, set: { DATABASE_URL: "test" } }
    assert.deepStrictEqual(environmentOf(parent, set, options), { ...kept, DATABASE_URL: "test" })
  })

  it("L13 decides about a value of a megabyte in linear time", () => {
    for (const part of ["eyJ", "://", "a:", "password", " sk-", "-----BEGIN ", "A", "?token"]) {
      assert.isFalse(isSecretVariable("X", part.repeat(2 ** 20 / part.length)), part)
    }
  })
})
