import type { Check } from './finding.ts'
import { databaseChecks } from './database.ts'
import { machineChecks } from './machine.ts'
import { models } from './models.ts'
import { services } from './services.ts'

/** All checks, the machine first, because its problems explain others. */
export const CHECKS: readonly Check[] = [...machineChecks, ...databaseChecks, services, models]
