import { randomBytes } from 'node:crypto'
import { CONSOLE_EMAIL, makeKeys } from './local/src/keys.ts'

// Prints the secrets of a new deployment for infra/compose.yaml: `npm run --silent keys > infra/.env`.
const projectRef = process.argv[2] ?? 'local'
const keys = await makeKeys(projectRef)
process.stdout.write(`TERRANE_PROJECT_REF=${projectRef}
POSTGRES_PASSWORD=${randomBytes(24).toString('base64url')}
TERRANE_JWT_SECRET=${keys.jwtSecret}
TERRANE_ANON_KEY=${keys.anonKey}
TERRANE_SERVICE_ROLE_KEY=${keys.serviceRoleKey}
TERRANE_SERVICES_KEY=${keys.servicesKey}
TERRANE_SECRETS_KEY=${keys.secretsKey}
TERRANE_METRICS_KEY=${keys.metricsKey}
TERRANE_CONSOLE_EMAIL=${CONSOLE_EMAIL}
TERRANE_CONSOLE_PASSWORD=${keys.consolePassword}
`)
