package family

// ID names one family of the closed taxonomy, such as "injection". The empty
// ID means unmapped: a label outside the taxonomy, which never counts.
type ID string
