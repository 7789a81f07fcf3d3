import { assert, describe, it } from "@effect/vitest"
import { environmentOf } from "../../src/environment/EnvironmentPolicy.ts"
import { isSecretVariable } from "../../src/environment/SecretVariables.ts"

const words = (text: string): ReadonlyArray<string> => text.split(/\s+/).filter(Boolean)

/** Names of variables that are secret whatever their value. */
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
  PW ADMIN_PW P12_PW LDAP_BINDPW BINDPW USERPWD CURL_USERPWD PSK WIFI_PSK
  SEED_PHRASE seedPhrase RECOVERY_PHRASE MNEMONIC WALLET WALLET_SEED RECOVERY_CODE BACKUP_CODES BACKUPCODES
  STRIPE_SK SAS STORAGE_SAS ID_RSA ID_DSA ID_ECDSA ID_ED25519 DEPLOY_ID_ED25519 SERVER_PEM SIGNING_PFX
  SERVICE_ACCOUNT_JSON serviceAccount GCP_SA_JSON TELEGRAM_BOT DISCORD_BOT MAGIC_LINK
  PIN CARD_PIN PASSCODE OTP NPM_CONFIG_OTP TOTP MFA MFA_CODE SALT PASSWORD_SALT PEPPER XSRF CSRF CSRF_VALUE WEBHOOKS
`)

/** Variables that are passed to commands, with typical values. */
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
  OTP_VERSION: "27.1.2",
  PYTHONHASHSEED: "0",
  RANDOM_SEED: "42",
  PINENTRY_USER_DATA: "USE_CURSES=1",
  PINNED_VERSION: "1.2.3",
  SASS_PATH: "node_modules",
  SKIP_TESTS: "1",
  SALTIRE: "1",
  INIT_CWD: "/work",
  DEPENDABOT: "true",
  ROBOT_MODEL: "r2",
  KUBERNETES_SERVICE_HOST: "10.0.0.1",
  VSCODE_IPC_HOOK: "/run/user/1000/code.sock",
  EXIT_CODE: "0",
  XCODE_VERSION: "16.1",
  SSL_CERT_DIR: "/etc/ssl/certs",
  LD_LIBRARY_PATH: "/opt/token:/opt/secret:/usr/lib",
  JAVA_TOOL_OPTIONS: "-Djavax.net.ssl.trustStore=/etc/ssl/java -Dbypass=1",
  MAVEN_OPTS: "-Xmx2g -DskipTests",
  CFLAGS: "-O2 -g -unit:1",
  DOCKER_RUN_OPTIONS: "--rm -u 1000:1000 -v /work:/work",
  GLIBC: "glibc-2.39-0ubuntu8.3_amd64",
  TITLE: "Visual Basic Development",
  TIMES: "1234567890:AB",
}

/** Values that are secret under any name. */
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
  // Written in pieces, so that no secret scanner reports this file as a leak.
  ...[
    ["glrt-", "t1_0123456789abcdefghij"],
    ["gldt-", "0123456789abcdefghij"],
    ["ATATT", "3xFfGF0123456789abcdef"],
    ["GOCSPX", "-0123456789abcdefghijklmnopqr"],
    ["shpat", "_0123456789abcdef0123456789abcdef"],
    ["shpss", "_0123456789abcdef0123456789abcdef"],
    ["shpca", "_0123456789abcdef0123456789abcdef"],
    ["shppa", "_0123456789abcdef0123456789abcdef"],
    ["xai-", "0123456789abcdefghijABCDEFGHIJ"],
    ["gsk", "_0123456789abcdefghijABCDEFGHIJ"],
    ["lin_api", "_0123456789abcdefghijABCDEFGHIJ"],
    ["0123456789abcd", ".atlasv1.0123456789abcdefghij"],
    ["0123456789", ":AAabcdefghijklmnopqrstuvwxyz0123456"],
    ["pypi-", "AgEIcHlwaS5vcmcCJDAxMjM0"],
    ["hf", "_0123456789abcdefABCDEF"],
    ["dop_v1", "_0123456789abcdef0123456789abcdef"],
    ["SG", ".0123456789abcdefABCDEF.0123456789"],
    ["rk_live", "_0123456789"],
    ["ya29", ".a0123456789abcdef"],
    ["xoxe.xoxp-", "1-0123456789abcdef"],
    ["gho", "_0123456789abcdefABCDEF0123456789abcd"],
    ["https://hooks.slack.com", "/services/T00000000/B00000000/0123456789abcdef"],
    ["https://discord.com", "/api/webhooks/0123456789/abcdef"],
    ["https://discordapp.com", "/api/v10/webhooks/0123456789/abcdef"],
  ].map((parts) => parts.join("")),
  "Authorization: Basic bWU6aHVudGVyMg==",
  "-H 'Authorization: Token hunter2'",
  "Basic bWU6aHVudGVyMg==",
  "the header is Basic bWU6aHVudGVyMg==",
  "https://b.s3.amazonaws.com/o?X-Amz-Date=1&X-Amz-Signature=0123456789abcdef",
  "https://storage.googleapis.com/b/o?X-Goog-Signature=0123456789abcdef",
  "https://a.blob.core.windows.net/c?sv=2024&sig=0123456789abcdef",
  "-Xmx2g -Dpassword=hunter2",
  "-Djavax.net.ssl.keyStorePassword=hunter2",
  "-Dpwd=hunter2",
  "--verbose --password=hunter2",
  "--db-password=hunter2",
  "--password hunter2",
  "jdbc:sqlserver://db;user=me;password=hunter2;encrypt=true",
  '{"user":"me","password":"hunter2"}',
  "user: me\npassword: hunter2",
  "-s -u me:hunter2",
  "--user me:hunter2",
  "PuTTY-User-Key-File-3: ssh-ed25519",
  "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZLS0tLS0K",
]

const options = { networkDisabled: false, providerKeyNames: [] }
const everything = {
  inherit: "all",
  ignoreDefaultExcludes: true,
  exclude: [],
  set: {},
  includeOnly: [],
} as const
const excluding = { ...everything, ignoreDefaultExcludes: false }

const gitVariables = (
  settings: ReadonlyArray<readonly [key: string, value: string]>,
): Record<string, string> => ({
  GIT_CONFIG_COUNT: String(settings.length),
  ...Object.fromEntries(
    settings.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
})

/** Harmless settings, some of which look like secrets at first sight. */
const harmlessSettings = [
  ["safe.directory", "*"],
  ["user.signingKey", "0123456789ABCDEF"],
  ["core.askPass", "true"],
  ["http.proxyAuthMethod", "basic"],
] as const

const secretSettings = [
  ["http.extraHeader", "Authorization: Basic bWU6aHVudGVyMg=="],
  ["http.https://example.org/.extraheader", "X-Custom: hunter2"],
  ["credential.helper", "!echo hunter2"],
  ["credential.https://example.org.username", "me"],
  ["sendemail.smtpPass", "hunter2"],
  ["example.password", "hunter2"],
  ["example.oauthToken", "hunter2"],
  ["url.https://me:hunter2@example.org/.insteadOf", "https://example.org/"],
] as const

describe("SecretVariables", () => {
  it("L15 removes variables whose name means a secret", () => {
    for (const name of secretNames) assert.isTrue(isSecretVariable(name, "1"), name)
  })

  it("L15 removes variables whose value is a secret, whatever the name", () => {
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
    assert.deepStrictEqual(environmentOf(parent, undefined, options), kept)
    const { OPENAI_API_KEY: _, ...withSecrets } = parent
    assert.deepStrictEqual(environmentOf(parent, everything, options), withSecrets)
    const set = { ...excluding, set: { DATABASE_URL: "test" } }
    assert.deepStrictEqual(environmentOf(parent, set, options), { ...kept, DATABASE_URL: "test" })
  })

  it("L15 removes all settings for git in the environment when one of them is a secret", () => {
    for (const [key, value] of secretSettings) {
      for (const variables of [
        gitVariables([...harmlessSettings, [key, value]]),
        { ...gitVariables(harmlessSettings), GIT_CONFIG_PARAMETERS: `'a.b=c' '${key}=${value}'` },
        {
          ...gitVariables(harmlessSettings),
          GIT_CONFIG_PARAMETERS: `'a.b'='c' '${key}'='${value}'`,
        },
      ]) {
        assert.deepStrictEqual(environmentOf({ HOME: "/", ...variables }, undefined, options), {
          HOME: "/",
        })
        assert.deepStrictEqual(environmentOf(variables, everything, options), variables)
      }
    }
  })

  it("L15 keeps all settings for git in the environment when none of them is a secret", () => {
    const variables = {
      ...gitVariables(harmlessSettings),
      GIT_CONFIG_PARAMETERS: "'safe.directory=*' 'core.askPass'='true'",
      GIT_CONFIG_NOSYSTEM: "1",
    }
    assert.deepStrictEqual(environmentOf(variables, undefined, options), variables)
  })

  it("L15 the other settings apply to single variables of git as to any other variable", () => {
    const variables = gitVariables([["safe.directory", "*"]])
    const { GIT_CONFIG_COUNT: _, ...others } = variables
    const exclude = { ...excluding, exclude: ["GIT_CONFIG_COUNT"] }
    assert.deepStrictEqual(environmentOf(variables, exclude, options), others)
    const includeOnly = { ...excluding, includeOnly: ["*_COUNT"] }
    assert.deepStrictEqual(environmentOf(variables, includeOnly, options), {
      GIT_CONFIG_COUNT: "1",
    })
    const set = { ...excluding, set: gitVariables([["credential.helper", "store"]]) }
    assert.deepStrictEqual(environmentOf(variables, set, options), set.set)
  })

  it("L13 decides about a name of 256 KiB in linear time", () => {
    for (const part of ["1", "1A", "_", "A", "aA", "SEED_", "KE", "PWDX"]) {
      assert.isFalse(isSecretVariable(`${part.repeat(2 ** 18 / part.length)}x`, "1"), part)
    }
  })

  it("L13 decides about a value of a megabyte in linear time", () => {
    const parts = words(`
      eyJ :// a: password -----BEGIN A ?token 1 Basic Basic+A -u -u:a --password api_key sig .atlasv1. 123456789:AA
      authorization http://hooks.slack.com/ -Dpw xoxb.a
    `)
    for (const part of [...parts, " sk-", "-u ", "Basic "]) {
      assert.isFalse(isSecretVariable("X", part.repeat(2 ** 20 / part.length)), part)
    }
  })
})
