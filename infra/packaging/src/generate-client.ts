import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shareSchemas } from './share-schemas.ts'

// Makes the types of @terrane/client from the document of the worker: node infra/packaging/src/generate-client.ts [file].
const root = join(import.meta.dirname, '../../..')
const tool = join(root, 'infra/peers/packing/node_modules/.bin/openapi-typescript')
const file = process.argv[2] ?? join(root, 'packages/client/src/worker-api.ts')
const document = JSON.parse(readFileSync(join(root, 'packages/client/openapi/worker.json'), 'utf8'))
const input = JSON.stringify(shareSchemas(document))
execFileSync(tool, ['--default-non-nullable=false', '--output', file], { input, stdio: ['pipe', 'inherit', 'inherit'] })
