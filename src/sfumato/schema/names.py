"""What the name of a column suggests about its role."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sfumato.schema.attribute import Role


def _vocabulary(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PERSON = (
    "patient|person|customer|client|user|employee|staff|student|pupil|subject|respondent|"
    "participant|citizen|resident|insured|policyholder|applicant|borrower"
)
_PERSONAL = (
    f"{_PERSON}|member|household|case|record|row|visit|admission|encounter|account|"
    "first|last|full|given|family|middle|maiden|mother|father"
)
# "patient id", "last name" or "patient", but neither "number of persons" nor "drug name".
_PERSON_LABEL = re.compile(
    rf"^({_PERSON})$|(^|\b({_PERSONAL}) )(id|identifier|uid|no|nr|number|key|name)$"
)

# Words for labels, though perhaps of something shared, as in "branch id" or "product name".
_LABEL = _vocabulary("id identifier uid key name number ssn nin nhs mrn dni curp cpf nif passport")

_IDENTIFIER = _vocabulary(
    """
    ssn nin nhs mrn dni curp cpf nif passport licence license plate vin imei iban bic email mail
    phone telephone mobile cellphone fax username login nickname password url website ip mac uuid
    guid surname lastname firstname fullname forename middlename nombre apellido
    vorname nachname prenom address street signature photo picture image fingerprint biometric
    caseid userid patientid personid customerid clientid memberid employeeid studentid
    """
)
_SENSITIVE = _vocabulary(
    """
    disease diagnosis diagnose diagnostic icd illness sickness symptom syndrome condition treatment
    therapy medication medicine drug prescription surgery hiv aids cancer tumor tumour diabetes
    asthma copd pneumonia obesity hypertension hipertension cardiovascular stroke renal chronic
    covid infection pregnant pregnancy fertility abortion disability disabled mental psychiatric
    depression addiction alcohol tobacco smoker smoking blood glucose cholesterol bmi genetic
    genotype allergy vaccine vaccination intubed icu immunosuppressed toxicology
    salary income wage earning payment bonus debt loan credit mortgage balance wealth asset capital
    dividend tax benefit pension poverty turnover spending expenditure
    religion religious belief political politics party vote sexual orientation criminal crime
    conviction offence offense arrest rating opinion union enfermedad diagnostico salario ingreso
    krankheit gehalt einkommen maladie salaire revenu
    """
)
_QUASI_IDENTIFIER = _vocabulary(
    """
    age dob birth birthday birthdate birthplace born yob death died sex gender race ethnicity ethnic
    hispanic ancestry nationality nation native citizen citizenship immigrant immigration country
    state county city town village region province district municipality zip zipcode postcode postal
    plz location residence latitude longitude lat lon lng marital married civil spouse relationship
    relation family household child children education school university degree occupation job
    profession career employer employment industry workclass work worker language military veteran
    height admission discharge arrival edad sexo municipio provincia pais ocupacion alter geschlecht
    wohnort beruf sexe ville pays
    """
)
# Codes of these are names in disguise, even when they are written as numbers.
_CATEGORY = _vocabulary(
    """
    sex gender race ethnicity ethnic hispanic marital civil relationship nationality country state
    county city region province district municipality zip zipcode postcode postal plz occupation job
    profession industry workclass language code recode type class category group kind status stat
    flag unit disease diagnosis icd religion sexo
    """
)
_POSTAL = _vocabulary("zip zipcode postcode postal plz")
_FLAG = _vocabulary("sensitive private secret confidential flag hidden")

# Long words are also found inside others, as in "maritalstatus".
_LONG_WORD = 7


def words(name: str) -> tuple[str, ...]:
    """Return the words of a column name, in lower case.

    >>> words("dateOfBirth"), words("Marital-Status_2"), words("ZIPCode")
    (('date', 'of', 'birth'), ('marital', 'status', '2'), ('zip', 'code'))
    """
    split = re.sub(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3 \2\4", name)
    return tuple(re.findall(r"[^\W\d_]+|\d+", split.lower()))


def role_by_name(name: str) -> Role | None:
    """Return the role that the name speaks for, if any; a person's label comes first.

    >>> [str(role_by_name(name)) for name in ("Patient ID", "disease_name", "maritalStatus")]
    ['identifier', 'sensitive', 'quasi-identifier']
    """
    parts = words(name)
    if _PERSON_LABEL.search(" ".join(parts)) or _mentions(parts, _IDENTIFIER):
        return Role.IDENTIFIER
    if _mentions(parts, _SENSITIVE):
        return Role.SENSITIVE
    if _mentions(parts, _QUASI_IDENTIFIER):
        return Role.QUASI_IDENTIFIER
    return None


def is_label(name: str) -> bool:
    """Return whether the name is that of a label, of people or of anything else."""
    return _PERSON_LABEL.search(" ".join(words(name))) is not None or _mentions(words(name), _LABEL)


def is_category(name: str) -> bool:
    """Return whether values under this name are names, even when they are written as numbers."""
    return _mentions(words(name), _CATEGORY)


def is_postal(name: str) -> bool:
    """Return whether the name is that of a postal code, whose digits go from large to small."""
    return _mentions(words(name), _POSTAL)


def flagged_column(name: str, columns: Iterable[str]) -> str | None:
    """Return which of the columns this one flags cell by cell, going by its name.

    >>> flagged_column("age.sensitive", ["age", "age.sensitive"])
    'age'
    """
    *column, last = words(name) or ("",)
    if last not in _FLAG:
        return None
    return next((other for other in columns if list(words(other)) == column), None)


def _mentions(parts: tuple[str, ...], vocabulary: frozenset[str]) -> bool:
    for part in parts:
        if part in vocabulary or part.removesuffix("s") in vocabulary:
            return True
    joined = "".join(parts)
    return any(len(word) >= _LONG_WORD and word in joined for word in vocabulary)
