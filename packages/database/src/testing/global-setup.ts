export { prepareTestDatabases as setup } from './test-database.ts'
